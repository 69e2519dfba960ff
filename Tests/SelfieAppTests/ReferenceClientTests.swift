import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The reference client")
struct ReferenceClientTests {
    @Test("All eight calls, byte for byte", .timeLimit(.minutes(2)), arguments: TestStore.allCases)
    func replay(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            try await RawConnection.open(port: service.port) { connection in
                let password = try TestService.encrypt("secret 1")
                let signUp = try await Self.call(
                    &connection,
                    "POST /api/signup",
                    authorization: TestService.basic,
                    json: #"{"full_name":"Ada King Lovelace","email":"ada@example.com","password":"\#(password)"}"#
                )
                let id = try #require(signUp.json["id"] as? String)
                let nulls = #""api_authtoken":null,"authtoken_expiry":null,"id":"\#(id)"}"#
                #expect(
                    signUp.text
                        == #"{"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com","# + nulls
                )

                let signIn = try await Self.call(
                    &connection,
                    "POST /api/signin",
                    authorization: TestService.basic,
                    json: #"{"email":"ada@example.com","password":"\#(password)"}"#
                )
                let token = try Self.checkSession(signIn, at: service.clock.now)

                let gotten = try await Self.call(
                    &connection,
                    "GET /api/get_token?email=ada%40example.com&password=\(password.formEncoded)",
                    authorization: TestService.basic
                )
                let gottenToken = try #require(gotten.json["api_authtoken"] as? String)
                let gottenExpiry = try #require(gotten.json["authtoken_expiry"] as? String)
                #expect(
                    gotten.text == #"{"api_authtoken":"\#(gottenToken)","authtoken_expiry":"\#(gottenExpiry)"}"#
                )
                #expect(gottenToken != token)

                // Big enough to go through a file.
                let png = TestImage.png(bytes: 1_500_064)
                let first = try await Self.upload(&connection, png, title: "First", token: token)
                let second = try await Self.upload(&connection, TestImage.jpeg, title: "Second", token: token)

                let list = try await Self.call(&connection, "GET /api/get_photos", authorization: tokenHeader(token))
                #expect(list.text.hasPrefix("[") && list.text.hasSuffix("]"))
                #expect(list.jsonArray?.map { $0["title"] as? String } == ["First", "Second"])
                for (photo, bytes) in zip(list.jsonArray ?? [], [png, TestImage.jpeg]) {
                    try await Self.checkPhoto(photo, bytes, service, store: store)
                }

                let deleted = try await Self.call(
                    &connection,
                    "DELETE /api/delete_photo",
                    authorization: tokenHeader(token),
                    json: #"{"photo_id":"\#(first)"}"#
                )
                #expect(deleted.text == #"{"status":200,"message":"Image deleted"}"#)
                #expect(service.objects.keys() == [second])

                let reset = try await Self.call(
                    &connection,
                    "POST /api/reset_password",
                    authorization: tokenHeader(token),
                    json: #"{"old_password":"\#(password)","new_password":"\#(try TestService.encrypt("secret 2"))"}"#
                )
                let newToken = try Self.checkSession(reset, at: service.clock.now)

                let cleared = try await Self.call(
                    &connection,
                    "GET /api/clear_token",
                    authorization: tokenHeader(newToken)
                )
                #expect(cleared.text == #"{"status":200,"message":"Token cleared"}"#)
                #expect(try await service.count("SELECT count(*) FROM sessions") == 0)
            }
        }
    }

    @Test("A name with a quotation mark, put into JSON as it is, is refused in JSON")
    func brokenJSON() async throws {
        try await TestService.run { service in
            let before = try await service.state()
            try await RawConnection.open(port: service.port) { connection in
                let answer = try await Self.call(
                    &connection,
                    "POST /api/signup",
                    authorization: TestService.basic,
                    json: #"{"full_name":"Ada "the" Countess","email":"ada@example.com","password":"x"}"#,
                    status: 400
                )
                #expect(answer.message == "The request's JSON is malformed")
            }
            #expect(try await service.state() == before)
        }
    }

    /// Sends what the client's network library sends, on a connection that it keeps, and reads the answer.
    private static func call(
        _ connection: inout RawConnection,
        _ request: String,
        authorization: String,
        json: String? = nil,
        status: Int = 200
    ) async throws -> HTTPAnswer {
        let length = json.map { "Content-Length: \($0.utf8.count)\r\n" } ?? ""
        try await connection.send(
            """
            \(request) HTTP/1.1\r
            Host: selfies.example.com\r
            Content-Type: application/json\r
            Authorization: \(authorization)\r
            Connection: keep-alive\r
            Accept: */*\r
            Accept-Language: en-us\r
            Accept-Encoding: gzip, deflate\r
            User-Agent: Selfie/1 CFNetwork/711.0.6 Darwin/14.0.0\r
            \(length)\r
            \(json ?? "")
            """
        )
        return try await answer(&connection, to: request, status: status)
    }

    private static func upload(
        _ connection: inout RawConnection,
        _ image: Data,
        title: String,
        token: String
    ) async throws -> String {
        let body = TestMultipart.body(image: image, title: title)
        try await connection.send(
            """
            POST /api/upload_photo HTTP/1.1\r
            Host: selfies.example.com\r
            Content-Type: multipart/form-data; boundary=\(TestMultipart.boundary)\r
            Authorization: Token token=\(token)\r
            Connection: keep-alive\r
            Accept: */*\r
            Content-Length: \(body.count)\r
            \r

            """
        )
        try await connection.send(body)
        let answer = try await answer(&connection, to: "upload", status: 200)
        let randomID = try #require(answer.json["random_id"] as? String)
        let url = try #require(answer.json["image_url"] as? String)
        let expected = #"{"name":"photo","title":"\#(title)","image_url":"\#(url)","random_id":"\#(randomID)","#
        #expect(answer.text.hasPrefix(expected))
        #expect(randomID.wholeMatch(of: /[A-Za-z0-9]{41,}/) != nil)
        return randomID
    }

    private static func answer(
        _ connection: inout RawConnection,
        to request: String,
        status: Int
    ) async throws -> HTTPAnswer {
        let answer = try #require(try await connection.readResponse(), "\(request): no answer")
        #expect(answer.status == status, "\(request): \(answer.text)")
        TestService.expectManners(of: answer, "\(request): \(answer.text)")
        return answer
    }

    /// The client casts every value to a string, and parses the expiry with this one format.
    private static func checkSession(_ answer: HTTPAnswer, at now: Date) throws -> String {
        let values = try #require(answer.json as? [String: String], "\(answer.text)")
        let token = try #require(values["api_authtoken"])
        let expiry = try #require(values["authtoken_expiry"])
        let id = try #require(values["id"])
        #expect(
            answer.text == #"{"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com","#
                + #""api_authtoken":"\#(token)","authtoken_expiry":"\#(expiry)","id":"\#(id)"}"#
        )
        #expect(token.wholeMatch(of: /[A-Za-z0-9]{41,}/) != nil)
        #expect(expiry.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss.SSSZ"
        let date = try #require(formatter.date(from: expiry))
        #expect(abs(date.timeIntervalSince(now) - 24 * 3600) < 0.002)
        return token
    }

    /// The client loads a photo without the header that it sends elsewhere.
    private static func checkPhoto(
        _ photo: [String: Any],
        _ bytes: Data,
        _ service: TestService,
        store: TestStore
    ) async throws {
        let url = try #require(photo["image_url"] as? String)
        #expect(url.hasPrefix("http://selfies.example.com/photos/"))
        #expect(URL(string: url)?.absoluteString == url)
        let target = url.replacing("http://selfies.example.com", with: "")
        var answer = try await service.send("GET", target)
        if store == .s3 {
            #expect(answer.status == 302)
            answer = try await service.send("GET", try #require(answer.headers["location"]))
        }
        #expect(answer.status == 200)
        // A comparison within the expectation would look for every difference between megabytes, for minutes.
        let isSame = answer.body == bytes
        #expect(isSame)
    }
}
