/// An account, as its owner sees it.
struct User: Sendable {
    let id: Int
    let firstName: String
    let lastName: String
    let email: String
    let passwordHash: String
    /// Whether an administrator keeps it from being used.
    let isDisabled: Bool
}

/// The data of an account to be made, checked.
struct NewUser: Sendable {
    let firstName: String
    let lastName: String
    let email: String
    let password: Password

    private static let charactersMax = 255

    /// Checks what a client sent by the contract's rules.
    ///
    /// - Parameters:
    ///   - fullName: First and last word become the names; one word is both.
    ///   - email: The e-mail; spaces around it are dropped.
    ///   - password: The password; nil for one that could not be decrypted.
    /// - Throws: `AccountComplaints` with every rule that is broken.
    init(fullName: String, email: String, password: Password?) throws(AccountComplaints) {
        let words = fullName.split(whereSeparator: \.isWhitespace)
        let email = email.trimmingWhitespace()
        let complaints = AccountComplaints(
            name: Self.complaints(aboutName: fullName),
            email: Self.complaints(aboutEmail: email),
            password: Password.complaints(about: password)
        )
        guard complaints.isEmpty, let first = words.first, let last = words.last, let password else { throw complaints }
        firstName = String(first)
        lastName = String(last)
        self.email = email
        self.password = password
    }

    private static func complaints(aboutName name: String) -> [String] {
        [
            name.allSatisfy(\.isWhitespace) ? "full_name - can't be blank," : nil,
            name.unicodeScalars.contains("\0") ? "full_name - is invalid," : nil,
            name.unicodeScalars.count > charactersMax ? tooLong("full_name") : nil,
        ].compactMap(\.self)
    }

    private static func complaints(aboutEmail email: String) -> [String] {
        [
            email.isEmpty ? "email - can't be blank," : nil,
            isEmail(email) ? nil : "email - is invalid,",
            email.unicodeScalars.count > charactersMax ? tooLong("email") : nil,
        ].compactMap(\.self)
    }

    private static func tooLong(_ field: String) -> String {
        "\(field) - is too long (maximum is \(charactersMax) characters),"
    }

    /// The original's rule `\A[^@]+@([^@\.]+\.)+[^@\.]+\z`, and no NUL.
    private static func isEmail(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        let halves = scalars.split(separator: "@", omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty, !scalars.contains("\0") else { return false }
        let labels = halves[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
    }
}

extension String {
    /// The text without the white space around it.
    func trimmingWhitespace() -> String {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

/// The rules that a sign-up breaks, each as the contract's text with its comma, grouped by attribute.
struct AccountComplaints: Error {
    var name: [String] = []
    var email: [String] = []
    var password: [String] = []

    static let emailTaken = AccountComplaints(email: ["email - has already been taken,"])

    var isEmpty: Bool { name.isEmpty && email.isEmpty && password.isEmpty }

    /// All texts, one after another.
    var message: String { (name + email + password).joined() }
}
