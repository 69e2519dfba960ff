import SelfieCore

/// The parameters of the API, each once.
extension Endpoint.Parameter {
    static let fullName = Self("full_name", .text(maxCharacters: Complaint.maxCharacters))
    static let email = Self("email", .text(maxCharacters: Complaint.maxCharacters))
    /// The e-mail of an account.
    ///
    /// No account has one that is too long.
    static let accountEmail = Self("email", .text(maxCharacters: nil))
    static let password = Self("password", .encryptedPassword)
    static let oldPassword = Self("old_password", .encryptedPassword)
    static let newPassword = Self("new_password", .encryptedPassword)
    /// The label of a session, for its user.
    static let device = Self("device", .text(maxCharacters: Complaint.maxCharacters), isRequired: false)
    /// Whether all sessions are meant.
    static let all = Self("all", .flag, isRequired: false)
    static let title = Self("title", .text(maxCharacters: Complaint.maxCharacters))
    /// The photo's `random_id`.
    static let photoID = Self("photo_id", .id)
    static let image = Self("image", .photo, in: .multipart)
    static let sessionID = Self("id", .id, in: .path)
    static let randomID = Self("random_id", .id, in: .path)
    static let expires = Self("expires", .signature, in: .query)
    static let signature = Self("signature", .signature, in: .query)

    private init(_ name: String, _ kind: Kind, in place: Place = .anywhere, isRequired: Bool = true) {
        self.init(name: name, place: place, isRequired: isRequired, kind: kind)
    }
}
