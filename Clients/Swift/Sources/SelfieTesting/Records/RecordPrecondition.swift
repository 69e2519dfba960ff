/// What must hold, or the record is not changed.
enum RecordPrecondition: Sendable {
    case none
    case absent
    case exists
    /// It has one of these versions.
    case version(Set<Int>)

    /// Reads `If-Match` and `If-None-Match`.
    ///
    /// A tag that is no version matches none.
    ///
    /// - Throws: `ServiceRefusal` for something that is no tag.
    init(_ request: ServiceRequest) throws(ServiceRefusal) {
        guard var list = request.headers["if-match"]?[...] else {
            self = request.headers["if-none-match"] == "*" ? .absent : .none
            return
        }
        var versions: [Int?] = []
        while true {
            list = list.drop { " \t,".contains($0) }
            guard !list.isEmpty else { break }
            if list.hasPrefix("*") {
                self = .exists
                return
            }
            if list.hasPrefix("W/") { list.removeFirst(2) }
            guard list.hasPrefix("\""), let end = list.dropFirst().firstIndex(of: "\"") else { throw .ifMatchInvalid }
            versions.append(Int(list[..<end].dropFirst()))
            list = list[end...].dropFirst()
        }
        guard !versions.isEmpty else { throw .ifMatchInvalid }
        self = .version(Set(versions.compactMap(\.self)))
    }

    /// Requires that it holds for a record that is there.
    func check(_ version: Int) throws(ServiceRefusal) {
        switch self {
        case .none, .exists: return
        case .version(let versions) where versions.contains(version): return
        case .absent, .version: throw .recordVersionDiffers
        }
    }
}
