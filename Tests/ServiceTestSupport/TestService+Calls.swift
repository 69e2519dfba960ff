package import ConnectionTestSupport
import Curl
package import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
package import Postgres
import ServerProcesses
import TestSupport

extension TestService {
    /// Sends a request and collects the answer; redirects are not followed.
    ///
    /// It expects that the endpoint's description has the answer.
    ///
    /// - Parameters:
    ///   - method: Such as `GET`.
    ///   - target: The path and query as they go over the wire, or a whole URL.
    ///   - headers: Names and values.
    ///   - body: The body; its length is sent along.
    /// - Returns: The answer.
    /// - Throws: What the connection throws.
    package func send(
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        body: Data? = nil
    ) async throws -> HTTPAnswer {
        var request = CurlRequest(url: target.hasPrefix("http") ? target : origin + target)
        request.method = HTTPMethod(rawValue: method)
        request.headers = HTTPHeaders(headers)
        if let body { request.body = .bytes(ByteBuffer(data: body)) }
        let response = try await CurlClient.shared.answer(to: request, within: .seconds(60), maxBytes: 64 << 20)
        var values: [String: String] = [:]
        for (name, value) in response.headers { values[name.lowercased()] = value }
        let answer = HTTPAnswer(status: Int(response.status.code), headers: values, body: Data(buffer: response.body))
        secrets.note(target, headers: headers, body: body, answer)
        // A POST may stand for another method.
        let meant = headers.first { $0.0.lowercased() == "x-http-method" }?.1.replacing("MERGE", with: "PATCH")
        if target.hasPrefix("/") { Self.expectDescription(of: answer, to: meant ?? method, target) }
        return answer
    }

    /// Sends parameters as a form.
    package func sendForm(
        _ method: String,
        _ target: String,
        authorization: String?,
        _ parameters: [(String, String)] = [],
        headers: [(String, String)] = []
    ) async throws -> HTTPAnswer {
        let body = parameters.map { name, value in "\(name)=\(value.formEncoded)" }.joined(separator: "&")
        var headers = headers + [("Content-Type", "application/x-www-form-urlencoded")]
        if let authorization { headers.append(("Authorization", authorization)) }
        return try await send(method, target, headers: headers, body: Data(body.utf8))
    }

    /// The header of a request with the API's credential.
    package static var basic: String { "Basic \(Data("\(apiName):\(apiPassword)".utf8).base64EncodedString())" }

    /// Makes an account.
    package func signUp(
        email: String,
        password: String = "my password",
        fullName: String = "Ada Lovelace",
        headers: [(String, String)] = []
    ) async throws -> HTTPAnswer {
        try await sendForm(
            "POST",
            "/api/signup",
            authorization: Self.basic,
            [("full_name", fullName), ("email", email), ("password", try Self.encrypt(password))],
            headers: headers
        )
    }

    /// Begins a session.
    package func signIn(
        email: String,
        password: String = "my password",
        headers: [(String, String)] = []
    ) async throws -> HTTPAnswer {
        try await sendForm(
            "POST",
            "/api/signin",
            authorization: Self.basic,
            [("email", email), ("password", try Self.encrypt(password))],
            headers: headers
        )
    }

    /// Makes an account and begins a session.
    ///
    /// - Returns: The token.
    /// - Throws: `TestServiceError.unexpected` when either fails.
    package func makeToken(email: String = "ada@example.com", password: String = "my password") async throws -> String {
        let up = try await signUp(email: email, password: password)
        guard up.status == 200 else { throw UnexpectedAnswer(answer: up) }
        let answer = try await signIn(email: email, password: password)
        guard let token = answer.json["api_authtoken"] as? String else { throw UnexpectedAnswer(answer: answer) }
        return token
    }

    /// Uploads a photo as the gallery's page does, with a cookie's name and value.
    package func uploadByGallery(cookie: String) async throws -> HTTPAnswer {
        try await send(
            "POST",
            "/gallery/photos",
            headers: [
                ("Sec-Fetch-Site", "same-origin"), ("Cookie", cookie), ("Content-Type", TestMultipart.contentType),
            ],
            body: TestMultipart.body(image: TestImage.jpeg, title: "Me")
        )
    }

    /// Uploads a photo as the reference client does.
    package func upload(
        _ image: Data = TestImage.jpeg,
        token: String,
        title: String = "My selfie",
        fileName: String = "photo",
        headers: [(String, String)] = []
    ) async throws -> HTTPAnswer {
        try await send(
            "POST",
            "/api/upload_photo",
            headers: headers + [
                ("Authorization", "Token token=\(token)"),
                ("Content-Type", "multipart/form-data; boundary=\(TestMultipart.boundary)"),
            ],
            body: TestMultipart.body(image: image, title: title, fileName: fileName)
        )
    }

    /// The list of a user's photos.
    package func list(token: String) async throws -> HTTPAnswer {
        try await send("GET", "/api/get_photos", headers: [("Authorization", "Token token=\(token)")])
    }

    /// Deletes a photo.
    package func delete(_ randomID: String, token: String) async throws -> HTTPAnswer {
        try await sendForm(
            "DELETE",
            "/api/delete_photo",
            authorization: "Token token=\(token)",
            [("photo_id", randomID)]
        )
    }

    /// The number that a query's one row has in its column `count`.
    package func count(_ query: PostgresQuery) async throws -> Int {
        try await postgres.read(query).first?.decode("count") ?? 0
    }
}

/// An unexpected answer in a helper.
package struct UnexpectedAnswer: Error, CustomStringConvertible {
    let answer: HTTPAnswer

    package var description: String { "\(answer.status): \(answer.text)" }
}

/// Bodies as the reference client sends them.
package enum TestMultipart {
    /// The reference client's boundary.
    package static let boundary = "---------------------------14737809831466499882746641449"

    /// The value of `Content-Type`.
    package static var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// One part of a body.
    package struct Part {
        let name: String
        /// Nil for a text.
        let fileName: String?
        let bytes: Data

        package init(name: String, fileName: String? = nil, _ bytes: Data) {
            self.name = name
            self.fileName = fileName
            self.bytes = bytes
        }
    }

    /// The reference client's two parts.
    package static func body(image: Data, title: String, fileName: String = "photo") -> Data {
        body([Part(name: "image", fileName: fileName, image), Part(name: "title", Data(title.utf8))])
    }

    /// Parts as the reference client writes them.
    package static func body(_ parts: [Part]) -> Data {
        var body = Data()
        for part in parts {
            body += Data("--\(boundary)\r\n".utf8)
            if let fileName = part.fileName {
                body += Data(
                    "Content-Disposition: attachment; name=\"\(part.name)\"; filename=\"\(fileName)\"\r\n".utf8
                )
                body += Data("Content-Type: application/octet-stream\r\n\r\n".utf8)
            } else {
                body += Data("Content-Disposition: form-data; name=\"\(part.name)\"\r\n\r\n".utf8)
            }
            body += part.bytes + Data("\r\n".utf8)
        }
        return body + Data("--\(boundary)--\r\n".utf8)
    }
}

extension String {
    /// Percent-encoded, for queries and forms.
    package var formEncoded: String { addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
}
