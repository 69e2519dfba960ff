/// What the service answers to a call that it refuses.
struct ServiceRefusal: Error, Hashable {
    let status: Int
    let code: String
    let message: String

    static let wrongURL = ServiceRefusal(status: 404, code: "endpoint_not_found", message: "Wrong URL or HTTP method")
    static let appUnknown = ServiceRefusal(
        status: 401,
        code: "api_credential_wrong",
        message: "HTTP Basic: Access denied."
    )
    static let tokenInvalid = ServiceRefusal(
        status: 401,
        code: "token_invalid",
        message: "HTTP Token: Access denied."
    )
    static let tokenExpired = ServiceRefusal(
        status: 401,
        code: "token_expired",
        message: "Authtoken has expired. Please get a new token and try again!"
    )
    static let jsonMalformed = ServiceRefusal(
        status: 400,
        code: "json_malformed",
        message: "The request's JSON is malformed"
    )
    static let parametersMissing = ServiceRefusal(
        status: 400,
        code: "parameters_missing",
        message: "required parameters are missing"
    )

    /// The value of a parameter is none of those that `valid` describes.
    static func invalid(_ name: String, valid: String) -> ServiceRefusal { invalid(name, "is invalid (\(valid))") }

    /// The value of a parameter breaks a rule.
    static func invalid(_ name: String, _ rule: String = "is invalid", code: String = "invalid") -> ServiceRefusal {
        ServiceRefusal(status: 400, code: "\(name)_\(code)", message: "\(name) - \(rule),")
    }
}
