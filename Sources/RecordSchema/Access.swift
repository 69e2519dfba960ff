/// Who may do what with the records of a collection.
package enum Access: String, Sendable, CaseIterable {
    /// Each record is its owner's alone.
    case `private`
    /// The owner says who else reads and writes.
    case acl
    /// Records lie with the member they were sent to.
    case inbox
    /// Records are those of a role.
    case shared
    /// All members read.
    case published

    /// The kinds of users that get a grant of a record.
    package enum Grantee: Sendable, CaseIterable {
        /// Who created it. In an inbox, who sent it.
        case owner
        /// Members that the owner named as readers.
        case reader
        /// Members that the owner named as writers. They can also read.
        case writer
        /// The member in whose inbox it is.
        case recipient
        /// The members of the collection's role.
        case role
        /// The members of the role that only reads.
        case readingRole
        /// The members of roles that manage this role.
        case managingRoles
        /// All members.
        case everybody
    }

    /// The rights of each kind of grantee.
    ///
    /// A user of two kinds has the rights of both.
    package var rights: [Grantee: Rights] { Self.table[self] ?? [:] }

    private static let table: [Access: [Grantee: Rights]] = [
        .private: [.owner: [.read, .write, .delete]],
        .acl: [.owner: [.read, .write, .delete, .share], .reader: [.read], .writer: [.read, .write]],
        .inbox: [.recipient: [.read, .write, .delete], .owner: [.delete]],
        .shared: [.role: [.read, .write], .readingRole: [.read], .managingRoles: [.delete], .owner: [.delete]],
        .published: [.everybody: [.read], .owner: [.write, .delete]],
    ]
}
