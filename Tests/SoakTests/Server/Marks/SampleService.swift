import ConnectionTestSupport
import Foundation
import HTTPTypes
import Postgres
import SelfieWeb
import ServiceTestSupport
import TestSupport
import Testing

/// A service with something behind each path, and valid requests to all its calls.
///
/// What a request uses up is made anew for each.
struct SampleService: Sendable {
    let service: TestService
    /// The caller, who has all roles.
    private let ada: TestMember
    /// A member of the team.
    let bob: TestMember
    /// Whom Ada blocks.
    private let carol: TestMember
    let photoID: String
    /// The query of the photo's URL.
    private let photoQuery: [(String, String)]

    static let settings = [
        "RATE_LIMITS": "off", "TRUSTED_PROXIES": "1", "CORS_ORIGINS": "https://app.example.com",
        "RECORDS_QUOTA_MB": "100000",
    ]
    /// The e-mail of a user that only signs in: that ends older sessions.
    private static let signInEmail = "dora@example.com"
    static let password = "my password"

    /// The calls that end all sessions or the account of the caller.
    private static let endings: Set = [
        "signOut", "signOutByPost", "signOutByDelete", "resetPassword", "deleteAccount", "gallerySignOut",
        "galleryPassword", "galleryLeave",
    ]

    init(_ service: TestService) async throws {
        self.service = service
        ada = try await Self.member("ada", in: service)
        bob = try await Self.member("bob", in: service)
        carol = try await Self.member("carol", in: service)
        _ = try await service.makeToken(email: Self.signInEmail)
        for role in ["leads", "team"] { try await service.add(ada.userID, to: role) }
        let upload = try await service.upload(token: ada.token)
        photoID = try #require(upload.json["random_id"] as? String)
        let url = try #require(upload.json["image_url"] as? String)
        photoQuery = url.drop { $0 != "?" }.dropFirst().split(separator: "&").map { pair in
            let name = pair.prefix { $0 != "=" }
            return (String(name), String(pair.dropFirst(name.count + 1)))
        }
        try await addRecords()
    }

    private static func member(_ name: String, in service: TestService) async throws -> TestMember {
        let email = "\(name)@example.com"
        let token = try await service.makeToken(email: email)
        let row = try #require(
            try await service.postgres.read(
                "SELECT id::bigint AS id, member_id FROM users WHERE email = \(email)"
            ).first
        )
        return TestMember(name: name, token: token, userID: try row.decode("id"), id: try row.decode("member_id"))
    }

    // MARK: Requests

    /// A valid request, by somebody who may call.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - collection: One of ``collections(of:)``.
    /// - Returns: The request.
    /// - Throws: What the connection or the database throws.
    func request(to endpoint: Endpoint, in collection: String?) async throws -> SampleRequest {
        let token = Self.endings.contains(endpoint.name) ? try await addLeaver() : ada.token
        let id = try await id(for: endpoint, in: collection)
        var request = SampleRequest(
            to: endpoint,
            method: endpoint.method.rawValue,
            credentials: Self.credentials(for: endpoint, token: token)
        )
        let values = [
            ":collection": collection ?? "", ":id": id, ":member": member(for: endpoint), ":role": "team",
            ":random_id": photoID, ":name": "docs.js",
        ]
        for segment in endpoint.path.split(separator: "/").map(String.init) {
            if segment.hasPrefix(":") { request.openSegments.append(request.path.count) }
            request.path.append(values[segment] ?? segment)
        }
        if endpoint.name == "openPhoto" { request.query = photoQuery }
        try await addParameters(to: &request, id: id)
        if let collection {
            request.fields = fields(of: collection)
            if endpoint.body != nil, endpoint.method == .patch, request.takesMany {
                request.isMany = true
                request.members = [("id", #""record-1""#)]
            }
        } else if endpoint.body != nil {
            request.members = [("title", #""Analyst""#), ("shows_email", "true"), ("fields", #"{"phone":"1"}"#)]
        }
        return request
    }

    private func addParameters(to request: inout SampleRequest, id: String) async throws {
        let rivals = ["first_name", "last_name"]
        for parameter in request.endpoint.parameters where !rivals.contains(parameter.name) {
            switch parameter.location {
            case .path, .fileName: continue
            case .multipart: request.photo = TestImage.jpeg
            case .query where parameter.isRequired && parameter.name == "ids": request.query.append(("ids", id))
            case .query: continue
            case .anywhere where parameter.name == "photo_id":
                request.parameters.append((parameter.name, try await addPhoto()))
            // Another id must be one of an answer before.
            case .anywhere where parameter.kind == .id: continue
            // The password is there, too.
            case .anywhere where parameter.name == "code" && !parameter.isRequired: continue
            case .anywhere: request.parameters.append((parameter.name, try Self.value(of: parameter)))
            }
        }
    }

    private static func value(of parameter: Endpoint.Parameter) throws -> String {
        switch parameter.kind {
        case .text(maxCharacters: nil): signInEmail
        case .email: "\(UInt64.random(in: 0 ... .max))@example.com"
        case .json: "{}"
        case .text, .lines, .line, .id, .signature, .photo: "An example"
        case .encryptedPassword, .encryptedNewPassword: try TestService.encrypt(password)
        case .typedPassword, .typedNewPassword: password
        case .code: "123456"
        case .flag: "false"
        case .integer(let range): "\(range.upperBound)"
        case .word(let words): words[0]
        }
    }

    private static func credentials(for endpoint: Endpoint, token: String) -> [(String, String)] {
        switch endpoint.authentication {
        case .public: []
        case .basic: [("Authorization", TestService.basic)]
        case .dreamFactory: [("X-DreamFactory-Session-Token", token)]
        case .token: [("Authorization", "Token token=\(token)")]
        case .ownPage: [("Sec-Fetch-Site", "same-origin")]
        case .cookie: [("Sec-Fetch-Site", "same-origin"), ("Cookie", "selfie=\(token)")]
        }
    }

    // MARK: What requests are about

    /// The member whom a path names.
    private func member(for endpoint: Endpoint) -> String {
        if endpoint.path.hasPrefix("/api/blocks/") { return carol.id }
        // Only its owner reads and changes what is in an inbox.
        guard endpoint.path.hasPrefix("/api/members/:member/records/") else { return bob.id }
        return [.post, .put].contains(endpoint.method) ? bob.id : ada.id
    }

    /// The id in the path or the query, with what it names.
    private func id(for endpoint: Endpoint, in collection: String?) async throws -> String {
        let isRead = endpoint.method == .get || endpoint.method == .delete
        if endpoint.path == "/api/roles/:role/members/:member", isRead {
            try await send("PUT", "/api/roles/team/members/\(bob.id)")
        }
        guard let collection else { return endpoint.path.hasSuffix("/sessions/:id") ? try await addSession() : "" }
        let id = "new-\(UInt64.random(in: 0 ... .max))"
        if endpoint.method == .delete {
            try await put(id, collection)
            return id
        }
        // A second message with the same id is refused.
        return endpoint.method == .put && collection == "inbox" ? id : "record-1"
    }

    private func addPhoto() async throws -> String {
        let answer = try await send(
            "POST",
            "/api/upload_photo",
            TestMultipart.contentType,
            TestMultipart.body(image: TestImage.jpeg, title: "A title")
        )
        return try #require(answer.json["random_id"] as? String)
    }

    /// Begins another session of Ada's.
    private func addSession() async throws -> String {
        let token = "ada\(UInt64.random(in: 0 ... .max))"
        try await service.postgres.write(
            """
            INSERT INTO sessions (user_id, token_digest, expires_at)
            VALUES (\(ada.userID), sha256(convert_to(\(token), 'UTF8')), \(service.clock.now + 24 * 3600))
            """
        )
        return "\(try await service.count("SELECT max(id) AS count FROM sessions WHERE user_id = \(ada.userID)"))"
    }

    /// Makes an account with Ada's password and a session.
    ///
    /// - Returns: The token.
    private func addLeaver() async throws -> String {
        let token = "leaver\(UInt64.random(in: 0 ... .max))"
        try await service.postgres.write(
            """
            WITH added AS (
                INSERT INTO users (first_name, last_name, email, password_hash)
                SELECT 'Eve', 'Leaver', \("\(token)@example.com"), password_hash FROM users WHERE id = \(ada.userID)
                RETURNING id
            )
            INSERT INTO sessions (user_id, token_digest, expires_at)
            SELECT id, sha256(convert_to(\(token), 'UTF8')), \(service.clock.now + 24 * 3600) FROM added
            """
        )
        return token
    }

    /// Sends a request of Ada's that has to succeed.
    @discardableResult
    func send(
        _ method: String,
        _ target: String,
        _ type: String? = nil,
        _ body: Data? = nil
    ) async throws -> HTTPAnswer {
        let answer = try await MarkClient.send(
            method,
            service.origin + target,
            headers: [("Authorization", "Token token=\(ada.token)")] + (type.map { [("Content-Type", $0)] } ?? []),
            body: body
        )
        try #require(answer.status == 200, "\(method) \(target): \(answer.text.prefix(500))")
        return answer
    }
}
