import Foundation

/// A user as others see one.
public struct Member: Sendable, Hashable, Identifiable {
    /// It never changes.
    public let id: String
    public let firstName: String
    public let lastName: String
    public let title: String?
    public let picture: PhotoLink?
    /// Only if the member shows it.
    public let email: String?
    /// Data of the app's own.
    public let fields: [String: JSONValue]
}

extension Member: Decodable {
    enum CodingKeys: String, CodingKey {
        case id, title, picture, email, fields
        case firstName = "first_name"
        case lastName = "last_name"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let id = try container.decode(String.self, forKey: .id)
        self.id = id
        firstName = try container.decode(String.self, forKey: .firstName)
        lastName = try container.decode(String.self, forKey: .lastName)
        title = try container.decodeIfPresent(String.self, forKey: .title)
        picture = try container.decodeIfPresent(URL.self, forKey: .picture).map { PhotoLink($0, .member(id)) }
        email = try container.decodeIfPresent(String.self, forKey: .email)
        fields = try container.decodeIfPresent([String: JSONValue].self, forKey: .fields) ?? [:]
    }
}

/// The user's own data.
public struct Profile: Sendable, Hashable, Identifiable {
    /// The member's id.
    public let id: String
    public let firstName: String
    public let lastName: String
    public let title: String?
    public let picture: PhotoLink?
    public let email: String
    /// `unverified`, `verified` or `refuses`.
    public let emailState: String?
    /// Whether other members see the e-mail address.
    public let showsEmail: Bool
    /// Data of the app's own.
    public let fields: [String: JSONValue]
}

extension Profile: Decodable {
    private enum CodingKeys: String, CodingKey {
        case id, title, picture, email, fields
        case firstName = "first_name"
        case lastName = "last_name"
        case emailState = "email_state"
        case showsEmail = "shows_email"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        firstName = try container.decode(String.self, forKey: .firstName)
        lastName = try container.decode(String.self, forKey: .lastName)
        title = try container.decodeIfPresent(String.self, forKey: .title)
        picture = try container.decodeIfPresent(URL.self, forKey: .picture).map { PhotoLink($0, .profile) }
        email = try container.decode(String.self, forKey: .email)
        emailState = try container.decodeIfPresent(String.self, forKey: .emailState)
        showsEmail = try container.decode(Bool.self, forKey: .showsEmail)
        fields = try container.decodeIfPresent([String: JSONValue].self, forKey: .fields) ?? [:]
    }
}

/// What to change of the user's own data.
///
/// What is nil stays as it is.
public struct ProfileChange: Sendable, Encodable {
    public var firstName: String?
    public var lastName: String?
    public var title: String?
    /// The id of one of the user's photos.
    public var picture: Photo.ID?
    public var showsEmail: Bool?
    /// Members to set, or to remove with ``JSONValue/null``.
    public var fields: [String: JSONValue]?

    private enum CodingKeys: String, CodingKey {
        case title, picture, fields
        case firstName = "first_name"
        case lastName = "last_name"
        case showsEmail = "shows_email"
    }

    public init(
        firstName: String? = nil,
        lastName: String? = nil,
        title: String? = nil,
        picture: Photo.ID? = nil,
        showsEmail: Bool? = nil,
        fields: [String: JSONValue]? = nil
    ) {
        (self.firstName, self.lastName, self.title) = (firstName, lastName, title)
        (self.picture, self.showsEmail, self.fields) = (picture, showsEmail, fields)
    }
}
