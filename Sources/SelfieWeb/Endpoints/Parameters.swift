import SelfieAccounts
import SelfiePhotos

/// The parameters of the API, each once.
extension Endpoint.Parameter {
    static let fullName = Self(
        "full_name",
        text,
        "The user's name. Its first word is the first name, and its last word the last name.",
        example: "Ada Lovelace",
        mayBeBlank: false
    )
    /// The same for a call that takes two names instead.
    static let fullNameOrNames = Self(
        "full_name",
        text,
        "The user's name, instead of `first_name` and `last_name`. Its first and last word are used.",
        example: "Ada Lovelace",
        isRequired: false,
        mayBeBlank: false
    )
    static let firstName = Self(
        "first_name",
        text,
        "The first name, of any number of words. It is ignored if `full_name` is sent.",
        example: "Ada",
        isRequired: false,
        mayBeBlank: false
    )
    static let lastName = Self(
        "last_name",
        text,
        "The last name, of any number of words. It is ignored if `full_name` is sent.",
        example: "Lovelace",
        isRequired: false,
        mayBeBlank: false
    )
    static let memberTitle = Self(
        "title",
        text,
        "A title that others see below the name.",
        example: "Analyst",
        isRequired: false
    )
    static let memberFields = Self(
        "fields",
        .json(maxBytes: ProfileFields.maxBytes),
        "Other data of the app that others may see: a JSON object. In a form or query, send its text.",
        example: #"{"phone":"+44 20 7946 0000"}"#,
        isRequired: false
    )
    static let email = Self(
        "email",
        .email(maxCharacters: ValidationError.maxCharacters),
        "The e-mail address. No other account may have it, ignoring case.",
        example: "ada@example.com",
        mayBeBlank: false
    )
    /// The e-mail of an account.
    ///
    /// No account has one that is too long.
    static let accountEmail = Self(
        "email",
        .text(maxCharacters: nil),
        "The account's e-mail address.",
        example: "ada@example.com"
    )
    static let password = Self("password", .encryptedPassword, "The password, encrypted.", example: ciphertext)
    /// The password where a code may stand for it.
    static let passwordOrCode = Self(
        "password",
        .encryptedPassword,
        "The password, encrypted. Required without `code`.",
        example: ciphertext,
        isRequired: false,
        need: .withoutCode
    )
    static let typedPasswordOrCode = Self(
        "password",
        .typedPassword,
        "The password. Required without `code`.",
        example: typed,
        isRequired: false,
        need: .withoutCode
    )
    /// A code where a password may stand for it.
    static let codeOrPassword = Self(
        "code",
        .code(digits: CodeKeys.digitCount),
        "A code that was sent for `signin`, instead of the password. Only where the service sends mails.",
        example: codeExample,
        isRequired: false
    )
    static let code = Self(
        "code",
        .code(digits: CodeKeys.digitCount),
        "The code from the mail. Spaces between its digits do not count.",
        example: codeExample
    )
    static let purpose = Self(
        "purpose",
        .word([CodePurpose.signIn, .reset].map(\.rawValue)),
        "What the code is for: signing in, or a new password. A code for one is none for the other.",
        example: CodePurpose.reset.rawValue
    )
    /// The address of an account, as it is to be.
    static let newEmail = Self(
        "email",
        .email(maxCharacters: ValidationError.maxCharacters),
        "The new address, or the present one to verify it.",
        example: "ada@example.org",
        mayBeBlank: false
    )
    static let oldPassword = Self(
        "old_password",
        .encryptedPassword,
        "The current password, encrypted.",
        example: ciphertext
    )
    /// The password of a new account.
    static let chosenPassword = Self(
        "password",
        newPasswordKind,
        "The new account's password, encrypted. Required, unless `SIGNUP_WITHOUT_PASSWORD` is `true`.",
        example: ciphertext,
        isRequired: false,
        need: .ofNewAccount
    )
    static let newPassword = Self(
        "new_password",
        newPasswordKind,
        "The new password, encrypted.",
        example: ciphertext,
        as: "password"
    )
    static let typedPassword = Self("password", .typedPassword, "The password.", example: typed)
    static let typedOldPassword = Self("old_password", .typedPassword, "The current password.", example: typed)
    static let typedNewPassword = Self("password", typedNewPasswordKind, "The new account's password.", example: typed)
    static let typedChangedPassword = Self(
        "new_password",
        typedNewPasswordKind,
        "The new password.",
        example: typed,
        as: "password"
    )
    /// The label of a session, for its user.
    static let device = Self(
        "device",
        .line(maxCharacters: ValidationError.maxCharacters),
        "The device's name in the list of sessions. Defaults to the `User-Agent`.",
        example: "Ada's phone",
        isRequired: false
    )
    static let remember = Self(
        "remember",
        .flag,
        "`true` keeps the session until it is ended, or is unused for `REMEMBERED_LIFETIME_DAYS`.",
        example: "true",
        isRequired: false
    )
    static let all = Self("all", .flag, "`true` ends all of the user's sessions.", example: "true", isRequired: false)
    static let listed = Self(
        "listed",
        .flag,
        "Whether the photo is in the list of photos. Defaults to `true`.",
        example: "true",
        isRequired: false
    )
    static let title = Self(
        "title",
        lines,
        "The photo's title. Line breaks and tabs are kept.",
        example: "My first selfie"
    )
    static let photoID = Self("photo_id", .id, "The photo's `random_id`.", example: randomIDExample)
    static let limit = Self(
        "limit",
        .integer(1...PhotoSelection.maxLimit),
        "The maximum number of photos of a page. Without it, the list is complete.",
        example: "50",
        isRequired: false
    )
    static let after = Self(
        "after",
        .id,
        "The `random_id` of the last photo of the previous page. That photo must still exist.",
        example: randomIDExample,
        isRequired: false,
        valid: ServiceError.validPhotoPosition
    )
    static let order = Self(
        "order",
        .word(PhotoSelection.Order.allCases.map(\.rawValue)),
        "The order: the oldest or the newest photos first.",
        example: PhotoSelection.Order.newest.rawValue,
        isRequired: false
    )
    static let memberID = Self("member", .id, in: .path, "The member's `id`.", example: Endpoint.Answer.Member.memberID)
    static let deviceToken = Self(
        "device",
        .id,
        in: .path,
        "The token that the device got from Apple (hexadecimal) or Google.",
        example: String(repeating: "5e", count: 32)
    )
    static let subscriptionID = Self("subscription", .id, in: .path, "An id of your choice.", example: "new-messages")
    static let beginning = Self(
        "query",
        .line(maxCharacters: ValidationError.maxCharacters),
        in: .query,
        "The start of a full name, a last name or a title, ignoring case.",
        example: "ada l",
        isRequired: false
    )
    static let afterMember = Self(
        "after",
        .id,
        in: .query,
        "The `next` of the previous page.",
        example: Endpoint.Answer.Member.memberID,
        isRequired: false,
        valid: ServiceError.validPosition
    )
    static let memberLimit = Self(
        "limit",
        .integer(1...DirectorySelection.maxLimit),
        in: .query,
        "The maximum number of members of a page. Defaults to \(DirectorySelection.usualLimit).",
        example: "50",
        isRequired: false
    )
    static let image = Self(
        "image",
        .photo,
        in: .multipart,
        "The photo, as a file: JPEG, PNG, GIF, WebP, HEIC or AVIF.",
        example: "IMG_0042.jpg"
    )
    static let fileName = Self(
        "name",
        text,
        in: .fileName,
        "The file's name. Only the part after the last `/` or `\\` is used.",
        example: "IMG_0042.jpg",
        isRequired: false
    )
    static let sessionID = Self("id", .id, in: .path, "The session's `id`.", example: "17")
    static let randomID = Self("random_id", .id, in: .path, "The photo's `random_id`.", example: randomIDExample)
    static let fileOfPage = Self("name", .id, in: .path, "The file's name.", example: "docs.js")
    static let expires = Self(
        PhotoURLDay.expiresName,
        .signature,
        in: .query,
        "When the URL expires, in seconds since 1970.",
        example: "1795478400"
    )
    static let series = Self(
        PhotoURLDay.seriesName,
        .signature,
        in: .query,
        "The number of the user's series of URLs. It is missing for the first series.",
        example: "1",
        isRequired: false
    )
    static let photoScope = Self(
        PhotoURLDay.scopeName,
        .signature,
        in: .query,
        "The record or picture that the URL was made for. The URL works as long as its reader may see that.",
        example: "picture:\(Endpoint.Answer.Member.memberID):0",
        isRequired: false
    )
    static let signature = Self(
        PhotoURLDay.signatureName,
        .signature,
        in: .query,
        "The signature of the URL.",
        example: "eW91IGNhbid0IGd1ZXNzIG1l"
    )

    static let photoSize = Self(
        "size",
        .word(RenditionSize.allCases.map(\.rawValue)),
        in: .query,
        """
        A small picture of the photo instead: its longer side has \(RenditionSize.small.longerSide) pixels if it is `small`, \
        and \(RenditionSize.medium.longerSide) if it is `medium`. A photo that is not larger is sent as it is.
        """,
        example: RenditionSize.small.rawValue,
        isRequired: false
    )

    private static let text = Kind.text(maxCharacters: ValidationError.maxCharacters)
    private static let lines = Kind.lines(maxCharacters: ValidationError.maxCharacters)
    private static let newPasswordKind = Kind.encryptedNewPassword(
        minCharacters: Password.minCharacters,
        maxBytes: Password.maxBytes
    )
    private static let typedNewPasswordKind = Kind.typedNewPassword(
        minCharacters: Password.minCharacters,
        maxBytes: Password.maxBytes
    )
    private static let typed = "a good password"
    private static let codeExample = "123456"
    /// The contract's vector: `top secret message` with the passphrase `p4ssw0rd`.
    private static let ciphertext = "EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk="
    private static let randomIDExample = "Xk3vQ8EJt5nWm2Yb7LhRs9DkPz4GfUu6BoTiNaQw1cd"

    init(
        _ name: String,
        _ kind: Kind,
        in location: Location = .anywhere,
        _ summary: String,
        example: String,
        isRequired: Bool = true,
        need: Need? = nil,
        mayBeBlank: Bool = true,
        as nameInRefusals: String? = nil,
        valid: String? = nil
    ) {
        // Another path has no such call.
        let rules: [ValidationError.Reason] = (mayBeBlank ? [] : [.blank]) + (location == .path ? [] : kind.rules)
        self.init(
            name: name,
            location: location,
            isRequired: isRequired,
            need: need,
            kind: kind,
            summary: summary,
            example: example,
            validationErrors: rules.map { ServiceError($0, of: nameInRefusals ?? name, valid: valid ?? kind.valid) },
            valid: valid
        )
    }
}
