import AESCrypt
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// The service that is measured, as it runs in production, and the few calls that prepare it.
enum Service {
    static let apiName = "bench"
    static let apiPassword = "bench-api-password"
    static let email = "signer@example.com"
    private static let password = "a password of some length"
    private static let maxBodyBytes = 1 << 20

    /// Starts the service, runs `body` and ends it.
    static func with<Result: Sendable>(
        databaseURL: String,
        store: [String: String],
        in folder: URL,
        _ body: (ServerProcess) async throws -> Result
    ) async throws -> Result {
        let migrations = FileManager.default.currentDirectoryPath + "/migrations"
        say("Starting the service.")
        return try await ServerProcess.with(
            "selfie",
            ["serve", "--hostname", "127.0.0.1", "--port", "0", "--migrations", migrations],
            environment: [
                "DATABASE_URL": databaseURL,
                "API_AUTH_NAME": apiName,
                "API_AUTH_PASSWORD": apiPassword,
                "SECRET_KEY_BASE": String(repeating: "0123456789abcdef", count: 4),
                "LOG_LEVEL": "info",
                "RATE_LIMITS": "off",
            ].merging(store) { $1 },
            in: folder,
            body
        )
    }

    /// Signs up the one user who can sign in, with a hash of the cost that is the default.
    static func signUp(at origin: String) async throws {
        var request = HTTPClientRequest(url: origin + "/api/signup")
        request.method = .POST
        request.headers = ["Authorization": basic, "Content-Type": "application/x-www-form-urlencoded"]
        request.body = .bytes(ByteBuffer(string: try signInForm() + "&full_name=Ada%20Lovelace"))
        _ = try await body(of: request)
    }

    /// Uploads a photo.
    ///
    /// - Returns: Its id, and the URL under which it is served.
    static func upload(_ photo: ByteBuffer, to origin: String) async throws -> (randomID: String, url: String) {
        struct Answer: Decodable {
            let randomId: String
            let imageUrl: String
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let body = try await body(of: Upload(photo).request(to: origin))
        let answer = try decoder.decode(Answer.self, from: Data(body.readableBytesView))
        return (answer.randomId, answer.imageUrl)
    }

    /// How long the body of a list of 20 photos is.
    static func listBytes(at origin: String) async throws -> Int {
        var request = HTTPClientRequest(url: origin + "/api/get_photos")
        request.headers = ["Authorization": "Token token=token-1"]
        return try await body(of: request).readableBytes
    }

    /// The credential that every app holds.
    static var basic: String { "Basic " + Data("\(apiName):\(apiPassword)".utf8).base64EncodedString() }

    /// E-mail and password as a form.
    static func signInForm() throws -> String {
        let encrypted = try AESCrypt(passphrase: apiPassword).encrypt(Array(password.utf8))
        return "email=\(percentEncoded(email))&password=\(percentEncoded(encrypted))"
    }

    private static func percentEncoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    private static func body(of request: HTTPClientRequest) async throws -> ByteBuffer {
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: maxBodyBytes)
        guard response.status == .ok else {
            throw BenchError.refused(url: request.url, status: Int(response.status.code), body: String(buffer: body))
        }
        return body
    }
}
