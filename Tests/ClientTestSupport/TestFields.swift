package import Foundation
import SelfieClient

package struct House: RecordFields, Hashable {
    package static let collection = "houses"
    package var address: String
    package var comment: String?
    package var photo: String?

    package init(address: String, comment: String? = nil, photo: String? = nil) {
        self.address = address
        self.comment = comment
        self.photo = photo
    }
}

package struct BugReport: RecordFields, Hashable {
    package static let collection = "bugs"
    package var title: String
    package var points: Int?
    package var due: Date?
    package var assignedUser: String?
    package var priority: String?

    package init(
        title: String,
        points: Int? = nil,
        due: Date? = nil,
        assignedUser: String? = nil,
        priority: String? = nil
    ) {
        self.title = title
        self.points = points
        self.due = due
        self.assignedUser = assignedUser
        self.priority = priority
    }
}

package struct Priority: RecordFields, Hashable {
    package static let collection = "priorities"
    package var name: String

    package init(name: String) {
        self.name = name
    }
}

package struct Letter: RecordFields, Hashable {
    package static let collection = "inbox"
    package var text: String

    package init(text: String) {
        self.text = text
    }
}
