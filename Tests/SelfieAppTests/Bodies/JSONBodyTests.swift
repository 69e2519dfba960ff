import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import Testing

@Suite("Bodies that are JSON", .timeLimit(.minutes(2)))
struct JSONBodyTests {
    @Test("application/json is taken, with any parameters")
    func taken() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            for (title, type) in [
                ("A", "application/json"), ("B", "application/json; charset=utf-8"),
                ("C", "Application/JSON;charset=UTF-8;x=y"),
            ] {
                let json = #" {"title":"\#(title)"} "#
                let answer = try await service.call("PATCH", "/api/me", token: token, json: json, contentType: type)
                #expect(answer.json["title"] as? String == title, "\(type)")
            }
        }
    }

    @Test("Any other type is refused, and so is none")
    func types() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            let types = [
                "", "text/plain", "text/x-json", "application/jsonrequest", "application/x-www-form-urlencoded",
                "application/merge-patch+json", "application/jsonx", "json", "multipart/form-data; boundary=b",
            ]
            for type in types {
                let answer = try await service.call(
                    "PATCH",
                    "/api/me",
                    token: token,
                    json: #"{"title":"A"}"#,
                    contentType: type
                )
                #expect(answer.status == 415 && answer.json["code"] as? String == "json_required", "\(type)")
            }
            let none = try await service.call("PATCH", "/api/me?title=A", token: token)
            #expect(none.status == 415)
            let me = try await service.me(token)
            #expect(me["title"] as? String == "")
        }
    }

    private static let malformed = [
        "", " ", "{", #"{"title":}"#, #"{"title":"A"} x"#, #"{"title":"\ud800"}"#, #"{"title":"\udc00\ud800"}"#,
        "title=A",
        "{'title':'A'}", #"{"title":"A",}"#, String(repeating: "[", count: 129) + String(repeating: "]", count: 129),
    ]

    @Test("Malformed JSON is refused, and so are lone surrogates and values that are too deep")
    func malformed() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            for body in Self.malformed {
                let answer = try await service.call("PATCH", "/api/me", token: token, json: body)
                #expect(answer.status == 400 && answer.json["code"] as? String == "json_malformed", "\(body)")
            }
            let bytes = Data(#"{"title":""#.utf8) + [0xFF] + Data(#""}"#.utf8)
            let headers = [("Authorization", tokenHeader(token)), ("Content-Type", "application/json")]
            let answer = try await service.send("PATCH", "/api/me", headers: headers, body: bytes)
            #expect(answer.status == 400 && answer.json["code"] as? String == "json_malformed")
        }
    }

    @Test("A body has 32 KiB at most, with or without a Content-Length")
    func size() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            let full = #"{"title":"A"}"# + String(repeating: " ", count: 32 * 1024 - 13)
            for (body, status) in [(full, 200), (full + " ", 413)] {
                let answer = try await service.call("PATCH", "/api/me", token: token, json: body)
                #expect(answer.status == status)
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.send(Self.head(token, "Transfer-Encoding: chunked"))
                    try await connection.send("\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n")
                    #expect(try await connection.readResponse()?.status == status)
                }
            }
        }
    }

    @Test("A client that waits gets 100 Continue, or is refused before it sends anything")
    func waiting() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send(Self.head(token, "Content-Length: 13\r\nExpect: 100-continue"))
                #expect(try await connection.readResponse()?.status == 100)
                try await connection.send(#"{"title":"A"}"#)
                #expect(try await connection.readResponse()?.status == 200)
            }
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send(Self.head(token, "Content-Length: 32769\r\nExpect: 100-continue"))
                #expect(try await connection.readResponse()?.status == 413)
            }
            try await RawConnection.open(port: service.port) { connection in
                let head = Self.head(token, "Content-Length: 13\r\nExpect: 100-continue")
                try await connection.send(head.replacing("application/json", with: "text/plain"))
                #expect(try await connection.readResponse()?.status == 415)
            }
        }
    }

    @Test("A body that ends early is refused, and changes nothing")
    func incomplete() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send(Self.head(token, "Content-Length: 14") + #"{"title":"A"}"#)
                connection.finish()
                let answer = try #require(try await connection.readResponse())
                #expect(answer.status == 400 && answer.json["code"] as? String == "request_incomplete")
            }
            let me = try await service.me(token)
            #expect(me["title"] as? String == "")
        }
    }

    private static func head(_ token: String, _ fields: String) -> String {
        """
        PATCH /api/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(tokenHeader(token))\r\n\
        Content-Type: application/json\r\n\(fields)\r\n\r\n
        """
    }
}
