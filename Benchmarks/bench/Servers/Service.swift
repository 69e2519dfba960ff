import Curl
import Foundation
import NIOCore
import NIOHTTP1

/// The measured service, as in production, and the calls that prepare it.
enum Service {
    private static let maxBodyBytes = 8 << 20

    /// Starts the service, runs `body` and ends it.
    static func with<Result: Sendable>(
        databaseURL: String,
        store: [String: String],
        _ body: (RunningServer) async throws -> Result
    ) async throws -> Result {
        let migrations = FileManager.default.currentDirectoryPath + "/migrations"
        say("Starting the service.")
        return try await RunningServer.with(
            "selfie",
            ["serve", "--hostname", "127.0.0.1", "--port", "0", "--migrations", migrations],
            environment: settings(databaseURL: databaseURL).merging(store) { $1 },
            body
        )
    }

    /// The settings that each service has.
    static func settings(databaseURL: String) -> [String: String] {
        [
            "DATABASE_URL": databaseURL,
            "API_AUTH_NAME": Credentials.apiName,
            "API_AUTH_PASSWORD": Credentials.apiPassword,
            "SECRET_KEY_BASE": String(repeating: "0123456789abcdef", count: 4),
            "LOG_LEVEL": "info",
            "RATE_LIMITS": "off",
            // A long run uploads more.
            "STORAGE_PER_USER_MAX": "\(1 << 50)",
            // All clients are at one address.
            "CONNECTIONS_PER_ADDRESS_MAX": "1000000",
        ]
    }

    /// Signs up the only user who can sign in, with a hash of the default cost.
    static func signUp(at origin: String) async throws {
        var request = CurlRequest(url: origin + "/api/signup")
        request.method = .POST
        request.headers = ["Authorization": Credentials.basic, "Content-Type": "application/x-www-form-urlencoded"]
        request.body = .bytes(ByteBuffer(string: try Credentials.signInForm() + "&full_name=Ada%20Lovelace"))
        _ = try await send(request)
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
        let body = try await send(Upload(photo).request(to: origin, token: BenchData.uploaderTokens[0])).body
        let answer = try decoder.decode(Answer.self, from: Data(body.readableBytesView))
        return (answer.randomId, answer.imageUrl)
    }

    /// The entity tag of a list.
    static func listTag(token: String, at origin: String) async throws -> String {
        var request = CurlRequest(url: origin + "/api/get_photos")
        request.headers = ["Authorization": "Token token=\(token)"]
        return try await send(request).headers.first(name: "etag") ?? ""
    }

    static let curl = CurlClient()

    /// Sends a request that must succeed.
    static func send(_ request: CurlRequest) async throws -> (headers: HTTPHeaders, body: ByteBuffer) {
        let answer = try await curl.answer(to: request, within: .seconds(30), maxBytes: maxBodyBytes)
        guard answer.status == .ok else {
            throw BenchError.refused(
                url: request.url,
                status: Int(answer.status.code),
                body: String(buffer: answer.body)
            )
        }
        return (answer.headers, answer.body)
    }
}
