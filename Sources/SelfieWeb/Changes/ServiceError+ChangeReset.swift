import HTTPTypes
import SelfieRecords

extension ServiceError {
    /// The client must begin again, without `since`.
    init(_ reset: ChangeReset) {
        let reason =
            switch reset {
            case .database: "The database may have lost changes"
            case .forgotten: "The cursor is too old"
            case .access: "You can see less than before"
            case .collections: "The cursor is for other collections"
            }
        self.init(
            status: .gone,
            code: "changes_\(reset.rawValue)",
            message: "\(reason). Begin again without a cursor"
        )
    }
}
