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
    /// The password of a new account.
    static let chosenPassword = Self("password", newPasswordKind)
    static let newPassword = Self("new_password", newPasswordKind)
    /// The label of a session, for its user.
    static let device = Self("device", .line(maxCharacters: Complaint.maxCharacters), isRequired: false)
    /// Whether all sessions are meant.
    static let all = Self("all", .flag, isRequired: false)
    static let title = Self("title", .text(maxCharacters: Complaint.maxCharacters))
    /// The photo's `random_id`.
    static let photoID = Self("photo_id", .id)
    /// The most photos of a page; without it, the list has all.
    static let limit = Self("limit", .integer(1...PhotoSelection.maxLimit), isRequired: false)
    /// The `random_id` of the last photo of the page before.
    static let after = Self("after", .id, isRequired: false)
    static let order = Self("order", .word(PhotoSelection.Order.allCases.map(\.rawValue)), isRequired: false)
    static let image = Self("image", .photo, in: .multipart)
    static let sessionID = Self("id", .id, in: .path)
    static let randomID = Self("random_id", .id, in: .path)
    static let expires = Self(PhotoURLDay.expiresName, .signature, in: .query)
    /// Missing in URLs of a user's first series.
    static let series = Self(PhotoURLDay.seriesName, .signature, in: .query, isRequired: false)
    static let signature = Self(PhotoURLDay.signatureName, .signature, in: .query)

    private static let newPasswordKind = Kind.encryptedNewPassword(
        minCharacters: Password.minCharacters,
        maxBytes: Password.maxBytes
    )

    private init(_ name: String, _ kind: Kind, in place: Place = .anywhere, isRequired: Bool = true) {
        self.init(name: name, place: place, isRequired: isRequired, kind: kind)
    }
}
