/// The service that the app talks to.
enum Service {
    static let url = "http://127.0.0.1:3000"
    /// `API_AUTH_NAME` of the service.
    static let credentialName = ""
    /// `API_AUTH_PASSWORD` of the service.
    static let credentialPassword = ""
}
