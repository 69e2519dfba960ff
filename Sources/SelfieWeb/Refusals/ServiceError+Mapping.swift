import Budgets
import HTTPConnection
import HTTPTypes
import Hummingbird
import JSON
import Multipart
import NIOHTTP1
import ObjectStore
import Postgres
import RecordSchema
import SelfieAccounts
import SelfieNotifications
import SelfiePhotos
import SelfieRecords

/// Only this extension knows which status and text an error of the other modules has.
extension ServiceError {
    /// Maps an error of any layer.
    ///
    /// An unknown one is an internal error. Its cause is not shown to the client.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as ServiceError: error
            case let error as InvalidInput: ServiceError(error)
            case AccountError.disabled: .accountDisabled
            case AccountError.emailUnverified: .emailUnverified
            case AccountError.hasPassword: .passwordExists
            case CodeError.invalid: .codeInvalid
            case SessionError.ended: .tokenAccessDenied
            case SessionError.expired: .tokenExpired
            case PhotoError.unknownFormat: .unknownPhotoFormat
            case PhotoError.givenUp: .unavailable
            case PhotoError.noRoom: .noRoomForPhotos
            case PhotoError.keyInUse: .uploadUnderWay
            case PhotoError.keyReused: .idempotencyKeyReused
            case PhotoError.keyDeleted: .uploadDeleted
            case PhotoError.noSuchPosition: ServiceError(.invalid, of: "after", valid: Self.validPhotoPosition)
            case let error as RecordRefusal: ServiceError(error)
            // A newer process has applied a schema that this one can't read: it is about to be replaced.
            case is RecordsBusy, is InvalidSchema: .unavailable
            case let reset as ChangeReset: ServiceError(reset)
            case RoleError.noRole: .roleNotFound
            case RoleError.noMember: .memberNotFound
            case RoleError.notManager: .roleForbidden
            case RoleError.full: .roleFull
            case DirectoryError.noSuchPosition: ServiceError(.invalid, of: "after", valid: Self.validPosition)
            case BlockError.noSuchMember: .memberNotFound
            case BlockError.isOneself: .memberIsOneself
            case BlockError.tooMany: .tooManyBlocks
            case is DeviceStore.TooMany: .tooManyDevices
            case is SubscriptionStore.TooMany: .tooManySubscriptions
            case let error as RateLimitExceeded: ServiceError(error)
            case TooBusy.holder: .tooManyAtOnce
            case is TooBusy: .unavailable
            case let error as PostgresError where error.isUnavailable: .unavailable
            case let error as PostgresTransactionError where error.postgresError.isUnavailable: .unavailable
            case PostgresError.cancelled, is CancellationError: .clientGone
            case ObjectStoreError.unavailable(is CancellationError): .clientGone
            case is ObjectStoreError: .unavailable
            case let error as MultipartError: ServiceError(error)
            case let error as HTTPError where error.status == .notFound: .wrongURL
            case is SlowRequestError: .bodyTooSlow
            case HTTPParserError.invalidEOFState: .bodyIncomplete
            case is HTTPParserError: .malformedRequest
            default: .internalError
            }
    }

    private init(_ error: MultipartError) {
        self =
            switch error {
            case .fieldTooLarge, .fileTooLarge, .headerTooLarge, .preambleTooLarge: .bodyTooLarge
            case .tooManyParts: .tooManyParameters
            case .unfitName: .unfitName
            case .unexpectedEnd: .bodyIncomplete
            default: .malformedMultipart
            }
    }

    /// The same, with the limit of what is too large.
    init(_ error: MultipartError, within limits: MultipartLimits) {
        self =
            switch error {
            case .fieldTooLarge: .bodyTooLarge(maxBytes: limits.maxFieldBytes)
            case .fileTooLarge: .bodyTooLarge(maxBytes: limits.maxFileBytes)
            case .headerTooLarge: .bodyTooLarge(maxBytes: limits.maxHeaderBytes)
            case .preambleTooLarge: .bodyTooLarge(maxBytes: limits.maxPreambleBytes)
            default: ServiceError(error)
            }
    }

    /// Maps why a body is no JSON that is taken.
    init(_ error: JSONError) {
        self =
            switch error {
            case .malformed, .tooDeep: .malformedJSON
            case .unfitName: .unfitName
            // Only a record's body has room for so many.
            case .tooManyValues: .recordTooLarge
            }
    }

    /// The response's headers state the limit, and when to try again.
    ///
    /// Source of the `RateLimit` fields: draft-ietf-httpapi-ratelimit-headers-06, the last version with separate
    /// fields. Its section 5 forbids a Retry-After below `RateLimit-Reset`.
    private init(_ error: RateLimitExceeded) {
        var refusal = ServiceError.tooManyRequests
        let (limit, seconds) = (error.limit, String(error.secondsLeft))
        refusal.headers[.retryAfter] = seconds
        for (name, value) in [
            ("RateLimit-Limit", "\(limit.count)"), ("RateLimit-Remaining", "0"), ("RateLimit-Reset", seconds),
            ("RateLimit-Policy", "\(limit.count);w=\(limit.seconds)"),
        ] {
            if let name = HTTPField.Name(name) { refusal.headers[name] = value }
        }
        self = refusal
    }

    /// The message names all broken rules, the code is that of the first.
    private init(_ error: InvalidInput) {
        let validationErrors = error.validationErrors.map { ServiceError($0.reason, of: $0.name) }
        self.init(
            status: .badRequest,
            code: validationErrors.first?.code ?? Self.parametersMissing.code,
            message: validationErrors.map(\.message).joined()
        )
    }

    /// The value of a parameter breaks a rule; `valid` describes valid values in a few words.
    init(_ reason: ValidationError.Reason, of name: String, valid: String? = nil) {
        // A name that there is no rule for is the client's own, and no part of a code.
        let code = reason == .unknown ? "field_unknown" : "\(name)_\(reason.code)"
        self.init(
            status: .badRequest,
            code: code,
            message: reason.contractText(of: name, valid: valid ?? Self.valid[name])
        )
    }

    /// What `after` may have.
    static let validPhotoPosition = "the random_id of a photo in the list"
    static let validPosition = "the value of next in the previous page"
    /// What members of a profile may have.
    private static let valid = [
        "picture": "the random_id of one of your photos, or null", "shows_email": "true or false",
        "fields": "a JSON object, with at most 30 combining marks in a row",
        // What devices and subscriptions may have.
        "platform": "apns or fcm, as far as the service sends to it", "environment": "production or sandbox",
        "topic": "a bundle id", "badge": "true or false, and a number from 0 to 9999 for a device",
        "device_token": "the token that the device got from Apple or Google",
        "collection": "one that you can read, or photos", "on": "a list with created, updated or deleted",
        "once": "true or false", "channel": "push or mail, as far as the service sends them",
        "alert": "a line of text", "sound": "a file's name",
        "silent": "true, only in a push without alert, sound and badge",
        "collapse": "visible ASCII characters, at most 64",
    ]

    /// Maps a refusal of the connection's own.
    init(_ refusal: ConnectionRefusal) {
        self =
            switch refusal {
            case .malformedRequest: .malformedRequest
            case .headerTooLarge: .headerTooLarge
            case .requestTooSlow: .bodyTooSlow
            case .handlerTooSlow: .unavailable
            }
    }
}

extension ValidationError.Reason {
    /// The last words of the refusal's code.
    fileprivate var code: String {
        switch self {
        case .blank: "blank"
        case .invalid: "invalid"
        case .taken: "taken"
        case .tooShort: "too_short"
        case .tooLong, .tooManyBytes: "too_long"
        case .tooDeep: "too_deep"
        case .hasNull: "has_null"
        case .numberOutOfRange: "number_out_of_range"
        case .unknown: "unknown"
        }
    }

    /// The contract's text, with its comma.
    fileprivate func contractText(of name: String, valid: String?) -> String {
        switch self {
        case .blank: "\(name) - can't be blank,"
        case .invalid: "\(name) - is invalid\(valid.map { " (\($0))" } ?? ""),"
        case .taken: "\(name) - has already been taken,"
        case .tooShort(minCharacters: let minimum): "\(name) - is too short (minimum is \(minimum) characters),"
        case .tooLong(maxCharacters: let maximum): "\(name) - is too long (maximum is \(maximum) characters),"
        case .tooManyBytes(max: let maximum): "\(name) - is too long (maximum is \(maximum) bytes),"
        case .tooDeep(maxDepth: let maximum): "\(name) - is too deep (maximum is \(maximum) levels),"
        case .hasNull: "\(name) - contains U+0000, which can't be stored,"
        case .numberOutOfRange: "\(name) - contains a number that is out of range,"
        case .unknown: "\(name) - is not known,"
        }
    }
}

extension ValidationError {
    /// The field's name for clients.
    fileprivate var name: String {
        switch field {
        case .fullName: "full_name"
        case .firstName: "first_name"
        case .lastName: "last_name"
        case .fields: "fields"
        case .picture: "picture"
        case .showsEmail: "shows_email"
        case .other(let name): name
        case .email: "email"
        case .password: "password"
        case .title: "title"
        case .fileName: "name"
        case .image: "image"
        }
    }
}
