/// The collections and roles of a service, as its operator's schema file has them.
///
/// Decode an app's own schema file with `JSONDecoder`, or describe the collections in code:
///
///     RecordSchema(collections: ["notes": .init(access: .private, indexes: ["title"])])
public struct RecordSchema: Sendable {
    /// By their names.
    public var roles: [String: Role]
    /// By their names.
    public var collections: [String: Collection]

    public init(roles: [String: Role] = [:], collections: [String: Collection] = [:]) {
        (self.roles, self.collections) = (roles, collections)
    }

    /// What members of a role have in common.
    public struct Role: Sendable {
        /// The roles whose members its members add and remove.
        public var manages: [String]
        /// Whether new users have it.
        public var isDefault: Bool

        public init(manages: [String] = [], isDefault: Bool = false) {
            (self.manages, self.isDefault) = (manages, isDefault)
        }
    }

    /// Who may do what with the records of a collection.
    public enum Access: String, Sendable, Decodable {
        case `private`, acl, inbox, shared, published
    }

    /// A kind of record.
    public struct Collection: Sendable {
        public var access: Access
        /// With ``Access/shared``: the role whose members share the records.
        public var role: String?
        /// With ``Access/shared``: the role whose members only read the records.
        public var readers: String?
        /// With ``Access/shared``: whether all members of the role may delete records.
        public var membersDelete: Bool
        /// The fields that lists search and sort by.
        public var indexes: [String]
        /// The fields of its records; nil if they may have any.
        public var fields: [String: Field]?
        /// Whether its records may have other fields, too.
        public var isOpen: Bool
        /// The field of another record that a new record sets.
        public var parent: Parent?

        public init(
            access: Access,
            role: String? = nil,
            readers: String? = nil,
            membersDelete: Bool = false,
            indexes: [String] = [],
            fields: [String: Field]? = nil,
            isOpen: Bool = false,
            parent: Parent? = nil
        ) {
            (self.access, self.role, self.readers, self.membersDelete) = (access, role, readers, membersDelete)
            (self.indexes, self.fields, self.isOpen, self.parent) = (indexes, fields, isOpen, parent)
        }
    }

    /// A field of a collection.
    public struct Field: Sendable {
        /// What values a field has.
        public enum Kind: String, Sendable, Decodable {
            case string, integer, number, boolean, timestamp, json, member, reference, photo
            case members, references, photos
        }

        public var kind: Kind
        /// The collection that references are to.
        public var target: String?
        public var isRequired: Bool
        /// The most characters of a text; nil without such a limit.
        public var maxLength: Int?

        public init(_ kind: Kind, to target: String? = nil, isRequired: Bool = false, maxLength: Int? = nil) {
            (self.kind, self.target, self.isRequired, self.maxLength) = (kind, target, isRequired, maxLength)
        }
    }

    /// For example: a new message sets its thread's field `lastMessage`.
    public struct Parent: Sendable, Decodable {
        /// The reference to the record.
        public var field: String
        /// The field of that record which gets the new record's id.
        public var set: String

        public init(field: String, set: String) { (self.field, self.set) = (field, set) }
    }
}

extension RecordSchema: Decodable {
    private enum CodingKeys: String, CodingKey { case roles, collections }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            roles: try container.decodeIfPresent([String: Role].self, forKey: .roles) ?? [:],
            collections: try container.decodeIfPresent([String: Collection].self, forKey: .collections) ?? [:]
        )
    }
}

extension RecordSchema.Role: Decodable {
    private enum CodingKeys: String, CodingKey {
        case manages
        case isDefault = "default"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            manages: try container.decodeIfPresent([String].self, forKey: .manages) ?? [],
            isDefault: try container.decodeIfPresent(Bool.self, forKey: .isDefault) ?? false
        )
    }
}

extension RecordSchema.Collection: Decodable {
    private enum CodingKeys: String, CodingKey {
        case access, role, readers, indexes, fields, parent
        case isOpen = "open"
        case delete
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            access: try container.decode(RecordSchema.Access.self, forKey: .access),
            role: try container.decodeIfPresent(String.self, forKey: .role),
            readers: try container.decodeIfPresent(String.self, forKey: .readers),
            membersDelete: try container.decodeIfPresent(String.self, forKey: .delete) == "members",
            indexes: try container.decodeIfPresent([String].self, forKey: .indexes) ?? [],
            fields: try container.decodeIfPresent([String: RecordSchema.Field].self, forKey: .fields),
            isOpen: try container.decodeIfPresent(Bool.self, forKey: .isOpen) ?? false,
            parent: try container.decodeIfPresent(RecordSchema.Parent.self, forKey: .parent)
        )
    }
}

extension RecordSchema.Field: Decodable {
    private enum CodingKeys: String, CodingKey { case type, to, required, max }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(Kind.self, forKey: .type),
            to: try container.decodeIfPresent(String.self, forKey: .to),
            isRequired: try container.decodeIfPresent(Bool.self, forKey: .required) ?? false,
            maxLength: try container.decodeIfPresent(Int.self, forKey: .max)
        )
    }
}
