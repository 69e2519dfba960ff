import SelfieCore

/// The parameters of the API, each once.
extension Endpoint.Parameter {
    static let fullName = Self("full_name", text, refusedFor: [.blank] + textRules)
    static let email = Self("email", text, refusedFor: [.blank, .taken] + textRules)
    /// The e-mail of an account.
    ///
    /// No account has one that is too long.
    static let accountEmail = Self("email", .text(maxCharacters: nil))
    static let password = Self("password", .encryptedPassword)
    static let oldPassword = Self("old_password", .encryptedPassword)
    /// The password of a new account.
    static let chosenPassword = Self("password", newPasswordKind, refusedFor: newPasswordRules)
    static let newPassword = Self("new_password", newPasswordKind, refusedFor: newPasswordRules, as: "password")
    /// The label of a session, for its user.
    static let device = Self(
        "device",
        .line(maxCharacters: Complaint.maxCharacters),
        isRequired: false,
        refusedFor: textRules
    )
    /// Whether all sessions are meant.
    static let all = Self("all", .flag, isRequired: false, refusedFor: [.invalid])
    static let title = Self("title", text, refusedFor: textRules)
    /// The photo's `random_id`.
    static let photoID = Self("photo_id", .id)
    /// The most photos of a page; without it, the list has all.
    static let limit = Self(
        "limit",
        .integer(1...PhotoSelection.maxLimit),
        isRequired: false,
        refusedFor: [.invalid]
    )
    /// The `random_id` of the last photo of the page before.
    static let after = Self("after", .id, isRequired: false, refusedFor: [.invalid])
    static let order = Self(
        "order",
        .word(PhotoSelection.Order.allCases.map(\.rawValue)),
        isRequired: false,
        refusedFor: [.invalid]
    )
    static let image = Self("image", .photo, in: .multipart, refusedFor: [.blank])
    /// The name of the file that ``image`` is, of which the part after the last `/` or `\` counts.
    static let fileName = Self("name", text, in: .fileName, isRequired: false, refusedFor: textRules)
    static let sessionID = Self("id", .id, in: .path)
    static let randomID = Self("random_id", .id, in: .path)
    static let expires = Self(PhotoURLDay.expiresName, .signature, in: .query)
    /// Missing in URLs of a user's first series.
    static let series = Self(PhotoURLDay.seriesName, .signature, in: .query, isRequired: false)
    static let signature = Self(PhotoURLDay.signatureName, .signature, in: .query)

    private static let text = Kind.text(maxCharacters: Complaint.maxCharacters)
    private static let textRules: [Complaint.Problem] = [.invalid, .tooLong(maxCharacters: Complaint.maxCharacters)]
    private static let newPasswordKind = Kind.encryptedNewPassword(
        minCharacters: Password.minCharacters,
        maxBytes: Password.maxBytes
    )
    private static let newPasswordRules: [Complaint.Problem] = [
        .tooShort(minCharacters: Password.minCharacters), .tooManyBytes(max: Password.maxBytes), .invalid,
    ]

    private init(
        _ name: String,
        _ kind: Kind,
        in place: Place = .anywhere,
        isRequired: Bool = true,
        refusedFor problems: [Complaint.Problem] = [],
        as nameInRefusals: String? = nil
    ) {
        self.init(
            name: name,
            place: place,
            isRequired: isRequired,
            kind: kind,
            complaints: problems.map { ServiceError($0, of: nameInRefusals ?? name) }
        )
    }
}
