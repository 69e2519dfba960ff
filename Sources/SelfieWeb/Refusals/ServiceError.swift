import HTTPConnection
package import HTTPTypes
import Hummingbird
import JSON
import SelfiePhotos

/// A refusal that a client sees, with the contract's status and text.
package struct ServiceError: Error, Equatable {
    package let status: HTTPResponse.Status
    /// The reason of the refusal, as a word that never changes, for programs.
    package let code: String
    package let message: String
    var headers: HTTPFields = [:]
    /// The names of the parameters that are missing.
    var parameters: [String] = []
    /// What the client may have overlooked.
    var hint: String?

    /// The same for the gallery's pages: a browser would ask for a password of its own.
    var withoutChallenge: ServiceError {
        var refusal = self
        refusal.headers[.wwwAuthenticate] = nil
        return refusal
    }

    /// The same with a message that says more.
    func saying(_ message: String) -> ServiceError {
        ServiceError(status: status, code: code, message: message, headers: headers)
    }

    static let wrongURL = ServiceError(
        status: .notFound,
        code: "endpoint_not_found",
        message: "Wrong URL or HTTP method"
    )
    /// `Allow` is added later.
    static let methodNotAllowed = ServiceError(
        status: .methodNotAllowed,
        code: "method_not_allowed",
        message: "This URL does not support this HTTP method"
    )
    static let parametersMissing = ServiceError(
        status: .badRequest,
        code: "parameters_missing",
        message: "required parameters are missing"
    )
    /// The contract's text has no names, so a member of its own has them.
    static func parametersMissing(_ names: [String], hint: String? = nil) -> ServiceError {
        var refusal = parametersMissing.with(hint: hint)
        refusal.parameters = names
        return refusal
    }
    static let bodyTooLarge = ServiceError(
        status: .contentTooLarge,
        code: "request_too_large",
        message: "The request is too large"
    )
    /// The same with the limit.
    static func bodyTooLarge(maxBytes: Int) -> ServiceError {
        ServiceError(
            status: bodyTooLarge.status,
            code: bodyTooLarge.code,
            message: "\(bodyTooLarge.message) (maximum is \(maxBytes) bytes)"
        )
    }
    static let bodyIncomplete = ServiceError(
        status: .badRequest,
        code: "request_incomplete",
        message: "The request's body is incomplete"
    )
    static let bodyTooSlow = ServiceError(
        status: .requestTimeout,
        code: "request_timeout",
        message: "The request took too long to arrive"
    )
    static let malformedRequest = ServiceError(
        status: .badRequest,
        code: "request_malformed",
        message: "The request is malformed"
    )
    static let headerTooLarge = ServiceError(
        status: .requestHeaderFieldsTooLarge,
        code: "header_too_large",
        message: "The request's header is too large"
    )
    static let malformedJSON = ServiceError(
        status: .badRequest,
        code: "json_malformed",
        message: "The request's JSON is malformed"
    )
    static let unfitName = ServiceError(
        status: .badRequest,
        code: "name_unfit",
        message: """
            The request's names are too long: each may have 255 bytes and 30 combining marks in a row, and all together 64 KiB
            """
    )
    static let jsonRequired = ServiceError(
        status: .unsupportedMediaType,
        code: "json_required",
        message: "The request's body must be JSON: application/json"
    )
    static let jsonNotAnObject = ServiceError(
        status: .badRequest,
        code: "json_not_an_object",
        message: "The request's JSON must be an object"
    )
    static let malformedParameters = ServiceError(
        status: .badRequest,
        code: "parameters_malformed",
        message: "The request's parameters are malformed"
    )
    static let malformedMultipart = ServiceError(
        status: .badRequest,
        code: "multipart_malformed",
        message: "The request's multipart body is malformed"
    )
    static let tooManyParameters = ServiceError(
        status: .badRequest,
        code: "too_many_parameters",
        message: "The request has too many parameters"
    )
    static let unavailable = ServiceError(
        status: .serviceUnavailable,
        code: "service_unavailable",
        message: "The service is not available at the moment. Please try again later!",
        headers: [.retryAfter: "5"]
    )
    /// It is only logged, because the client has left.
    ///
    /// The status is nginx's, for the log.
    static let clientGone = ServiceError(
        status: HTTPResponse.Status(code: 499, reasonPhrase: "Client Closed Request"),
        code: "client_gone",
        message: "The client has left"
    )
    static let internalError = ServiceError(
        status: .internalServerError,
        code: "internal_error",
        message: "Something went wrong. Please try again later!"
    )

    static let basicAccessDenied = ServiceError(
        status: .unauthorized,
        code: "api_credential_wrong",
        message: "HTTP Basic: Access denied.",
        headers: [.wwwAuthenticate: #"Basic realm="Application""#]
    )
    static let tokenAccessDenied = ServiceError(
        status: .unauthorized,
        code: "token_invalid",
        message: "HTTP Token: Access denied.",
        headers: [.wwwAuthenticate: #"Token realm="Application""#]
    )

    static let crossSiteRequest = ServiceError(
        status: .forbidden,
        code: "cross_site_request",
        message: "This call is only for the gallery's own pages"
    )

    /// Only for a client that sent the right password.
    static let accountDisabled = ServiceError(
        status: .forbidden,
        code: "account_disabled",
        message: "This account is disabled"
    )

    /// Only for a client that sent the right password.
    static let emailUnverified = ServiceError(
        status: .forbidden,
        code: "email_unverified",
        message: "This e-mail address is not verified. Please sign in with a code!"
    )
    static let codeInvalid = ServiceError(
        status: .unauthorized,
        code: "code_invalid",
        message: "Wrong or expired code"
    )
    static let passwordExists = ServiceError(
        status: .conflict,
        code: "password_exists",
        message: "This account has a password already"
    )

    static let noRoomForPhotos = ServiceError(
        status: .forbidden,
        code: "photo_quota_reached",
        message: "You have reached the limit of your photos"
    )

    static let memberNotFound = ServiceError(
        status: .notFound,
        code: "member_not_found",
        message: "There is no such member"
    )
    static let memberIsOneself = ServiceError(
        status: .badRequest,
        code: "member_is_oneself",
        message: "You can't block yourself"
    )
    static let tooManyBlocks = ServiceError(
        status: .forbidden,
        code: "too_many_blocks",
        message: "You have blocked the maximum number of members"
    )

    static let idempotencyKeyInvalid = ServiceError(
        status: .badRequest,
        code: "idempotency_key_invalid",
        message: "Idempotency-Key must be one header with 1 to \(UploadKey.maxBytes) visible ASCII characters"
    )
    static let uploadUnderWay = ServiceError(
        status: .conflict,
        code: "upload_under_way",
        message: "An upload with this Idempotency-Key is under way. Please try again later!",
        headers: [.retryAfter: "2"]
    )
    static let uploadDeleted = ServiceError(
        status: .gone,
        code: "upload_deleted",
        message: "The photo that was uploaded with this Idempotency-Key has been deleted"
    )
    static let idempotencyKeyReused = ServiceError(
        status: .unprocessableContent,
        code: "idempotency_key_reused",
        message: "Another photo or title was uploaded with this Idempotency-Key"
    )

    static let unknownPhotoFormat = ServiceError(
        status: .unsupportedMediaType,
        code: "photo_format_unknown",
        message: "image - is not a JPEG, PNG, GIF, WebP, HEIC or AVIF photo,"
    )
    /// The fields of the limit are added later.
    static let tooManyRequests = ServiceError(
        status: .tooManyRequests,
        code: "too_many_requests",
        message: "Too many requests. Please try again later!"
    )

    /// Too many parallel requests of a user.
    static let tooManyAtOnce = ServiceError(
        status: .tooManyRequests,
        code: "too_many_at_once",
        message: tooManyRequests.message,
        headers: [.retryAfter: "2"]
    )

    /// The usual text for an expired token.
    ///
    /// Some calls have their own.
    static let tokenExpired = tokenExpired("Authtoken has expired. Please get a new token and try again!")
    /// `Content-Range` with the length is added later.
    static let noSuchBytes = ServiceError(
        status: .rangeNotSatisfiable,
        code: "range_not_satisfiable",
        message: "The photo does not have these bytes"
    )

    /// An expired token, in a call's own text.
    static func tokenExpired(_ message: String) -> ServiceError {
        ServiceError(status: .unauthorized, code: "token_expired", message: message)
    }

    /// Those that the connection itself answers with, for any call, in the usual form.
    static let ofConnection: [ServiceError] = [.malformedRequest, .headerTooLarge, .bodyTooSlow]

    /// How a refusal is written.
    enum Form: Sendable {
        case usual
        /// As apps that were made for DreamFactory read it: its code is the status.
        case dreamFactory

        /// What the paths of DreamFactory's routes begin with.
        private static let dreamFactoryPath = "/rest/"

        init(of request: Request) {
            let isOfDreamFactory = request.head.path?.utf8.starts(with: Self.dreamFactoryPath.utf8) == true
            self = isOfDreamFactory ? .dreamFactory : .usual
        }
    }

    /// The body that every refusal has.
    private func json(_ form: Form = .usual) -> JSONWriter {
        var json = JSONWriter()
        if form == .dreamFactory {
            json.object { json in
                json.nested("error") { json in
                    json.array([self]) { json, refusal in
                        json.object { json in
                            json.member("message", refusal.message)
                            json.member("code", Int(refusal.status.code))
                        }
                    }
                }
            }
            return json
        }
        json.object { json in
            json.member("status", Int(status.code))
            json.member("message", message)
            json.member("code", code)
            if !parameters.isEmpty { json.member("parameters", texts: parameters) }
            if let hint { json.member("hint", hint) }
        }
        return json
    }

    /// The same with a hint.
    func with(hint: String?) -> ServiceError {
        var refusal = self
        refusal.hint = hint
        return refusal
    }

    /// The whole answer, with its JSON body.
    ///
    /// No cache keeps it: browsers would keep a 404 or 410 for as long as they like.
    func response(_ form: Form = .usual) -> Response {
        var response = Response(json(form), status: status).notStored()
        for field in headers { response.headers[field.name] = field.value }
        return response
    }

    /// The whole answer, in the form that the connection needs.
    var connectionAnswer: RefusalAnswer {
        var headers = headers
        headers[.cacheControl] = "no-store"
        return RefusalAnswer(status: status, headers: headers, contentType: jsonContentType, body: json().buffer)
    }
}
