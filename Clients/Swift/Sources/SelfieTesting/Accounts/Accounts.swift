import Foundation
import SelfieClient

/// A user, with what only the service knows.
struct User: Sendable {
    /// The member's id.
    let id: String
    let createdAt: Date
    var email: String
    var firstName: String
    var lastName: String
    var title: String?
    var fields: [String: JSONValue] = [:]
    /// The id of a photo.
    var picture: String?
    var showsEmail = false
    var isVerified = false
    var password: String?
    /// The ids of members, in the order in which they were blocked.
    var blocks: [String] = []
    var roles: Set<String> = []
    /// How often cursors of this user have ended because of a lost role.
    var lostRoles = 0

    var json: [String: JSONValue] {
        [
            "id": .string(id), "first_name": .string(firstName), "last_name": .string(lastName),
            "email": .string(email),
        ]
    }
}

/// All users.
struct Accounts: Sendable {
    private var byID: [String: User] = [:]
    private static let idLength = 32

    var all: [User] { Array(byID.values) }

    subscript(id: String) -> User? {
        get { byID[id] }
        set { byID[id] = newValue }
    }

    /// The user with an address, in any case.
    func user(email: String) -> User? {
        let email = Self.comparable(email)
        return byID.values.first { Self.comparable($0.email) == email }
    }

    static func comparable(_ email: String) -> String {
        email.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
    }

    /// Adds a user.
    ///
    /// - Throws: `ServiceRefusal` with all rules that are broken.
    mutating func add(
        email: String,
        firstName: String,
        lastName: String,
        title: String?,
        fields: [String: JSONValue],
        password: String?,
        at now: Date
    ) throws(ServiceRefusal) -> User {
        let errors = [
            Self.nameError(firstName, "first_name"), Self.nameError(lastName, "last_name"), emailError(email),
            password.flatMap { Self.passwordError($0, "password") },
        ].compactMap(\.self)
        if let first = errors.first {
            throw ServiceRefusal(status: 400, code: first.code, message: errors.map(\.message).joined())
        }
        var user = User(
            id: RandomText.make(Self.idLength),
            createdAt: now,
            email: email.trimmingCharacters(in: .whitespacesAndNewlines),
            firstName: firstName,
            lastName: lastName
        )
        (user.title, user.fields, user.password) = (title, fields, password)
        byID[user.id] = user
        return user
    }

    private static func nameError(_ name: String, _ parameter: String) -> ServiceRefusal? {
        if name.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty {
            return .invalid(parameter, "can't be blank", code: "blank")
        }
        return name.count > 255 ? .invalid(parameter, "is too long (maximum is 255 characters)", code: "too_long") : nil
    }

    /// Why an address can't be the one of another account.
    func emailError(_ email: String) -> ServiceRefusal? {
        let email = email.trimmingCharacters(in: .whitespacesAndNewlines)
        if email.isEmpty { return .invalid("email", "can't be blank", code: "blank") }
        if email.range(of: #"\A[^@]+@([^@\.]+\.)+[^@\.]+\z"#, options: .regularExpression) == nil {
            return .invalid("email")
        }
        return user(email: email) == nil ? nil : .invalid("email", "has already been taken", code: "taken")
    }

    /// Why a text can't be a password.
    ///
    /// What could not be decrypted is nil, and too short.
    static func passwordError(_ password: String?, _ parameter: String) -> ServiceRefusal? {
        guard let password, password.count >= 6 else {
            return .invalid(parameter, "is too short (minimum is 6 characters)", code: "too_short")
        }
        return password.utf8.count > 72
            ? .invalid(parameter, "is too long (maximum is 72 bytes)", code: "too_long") : nil
    }
}
