import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

/// The client of the bug tracker's tutorial.
///
/// Its requests have the form that DreamFactory's client library for iOS of that time gives them: `NIKApiInvoker`, over
/// `NSURLConnection`.
@Suite("The bug tracker's client")
struct DreamFactoryClientTests {
    /// A connection to one of two processes, and the headers that the client adds to each call.
    private struct Client {
        var connection: RawConnection
        let port: Int
        var session: String?

        mutating func call(_ line: String, _ body: String? = nil) async throws -> HTTPAnswer {
            let words = line.split(separator: " ")
            var head = "\(words[0]) /rest\(words[1]) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
            if let session { head += "X-DreamFactory-Session-Token: \(session)\r\n" }
            head += "X-DreamFactory-Application-Name: heisenbug\r\n"
            if body != nil { head += "Content-Type: application/json\r\n" }
            head += "Accept: */*\r\nAccept-Language: en-us\r\nAccept-Encoding: identity\r\nConnection: keep-alive\r\n"
            head += "User-Agent: Heisenbug/1.0 CFNetwork/672.0.2 Darwin/14.0.0\r\n"
            if let body { head += "Content-Length: \(body.utf8.count)\r\n" }
            try await connection.send("\(head)\r\n\(body ?? "")")
            return try #require(try await connection.readResponse())
        }
    }

    @Test("Each call of it works, on two processes", .timeLimit(.minutes(1)))
    func replay() async throws {
        try await TestService.runTwoWithSchema(try TestService.bugTracker) { first, second in
            try await RawConnection.open(port: first.port) { one in
                try await RawConnection.open(port: second.port) { other in
                    var ada = Client(connection: one, port: first.port)
                    var same = Client(connection: other, port: second.port)
                    try await Self.run(&ada, &same, first)
                }
            }
            try await first.expectSoundStreams()
        }
    }

    private static func run(_ ada: inout Client, _ same: inout Client, _ service: TestService) async throws {
        let registered = try await ada.call(
            "POST /user/register",
            #"{"first_name":"Ada","email":"ada@example.com","display_name":"Ada Lovelace","new_password":"a good password","last_name":"Lovelace"}"#
        )
        #expect(registered.text == #"{"success":true}"#)

        let session = try await same.call(
            "POST /user/session",
            #"{"password":"a good password","email":"ada@example.com"}"#
        )
        #expect(session.status == 200, "\(session.text)")
        let token = try #require(session.json["session_id"] as? String)
        let user = try #require(session.json["id"] as? String)
        (ada.session, same.session) = (token, token)
        #expect(try await ada.call("GET /user/session").text == session.text)

        for (table, names) in [
            ("priorities", ["High", "Low"]), ("statuses", ["Open", "Closed"]), ("severities", ["Crash"]),
        ] {
            let list = names.enumerated().map { #"{"name":"\#($1)","rank":\#($0)}"# }.joined(separator: ",")
            let answer = try await ada.call("POST /db/\(table)", #"{"record":[\#(list)]}"#)
            #expect(answer.rowIDs == Array(1...names.count), "\(answer.text)")
        }

        let created = try await ada.call(
            "POST /db/records",
            #"{"title":"It crashes","points":5,"priority":1,"status":"1","severity":1,"assignedUser":"\#(user)","archived":0}"#
        )
        #expect(created.text == #"{"id":1}"#)
        let many = (2...4).map { #"{"title":"Bug \#($0)","points":\#($0),"priority":2,"status":1}"# }
        let createdMany = try await same.call("POST /db/records", #"{"record":[\#(many.joined(separator: ","))]}"#)
        #expect(createdMany.text == #"{"record":[{"id":2},{"id":3},{"id":4}]}"#)
        // The library adds an empty id to the path.
        #expect(try await ada.call("POST /db/messages/?related=", #"{"record":3,"text":"On it"}"#).text == #"{"id":1}"#)

        let all = try await same.call("GET /db/records")
        #expect(all.rowIDs == [1, 2, 3, 4])
        #expect(all.rows[0]["status"] as? Int == 1)
        #expect(all.rows[0]["archived"] as? Bool == false)
        #expect(all.rows[0]["component"] is NSNull)
        let own = try await ada.call(
            "GET /db/records?filter=assignedUser%3D%27\(user)%27&order=points%20DESC&limit=10&related=priority_by_priority,status_by_status"
        )
        #expect(own.rowIDs == [1], "\(own.text)")
        #expect((own.rows.first?["priority_by_priority"] as? [String: Any])?["name"] as? String == "High")

        #expect(try await ada.call("PUT /db/records/1", #"{"points":8}"#).text == #"{"id":1}"#)
        let patched = try await same.call("PATCH /db/records/1?fields=points%2Ctitle", #"{"status":2}"#)
        #expect(patched.text == #"{"id":1,"title":"It crashes","points":8}"#)
        let merged = try await ada.call(
            "MERGE /db/records",
            #"{"record":[{"id":2,"archived":true},{"id":"3","archived":true}]}"#
        )
        #expect(merged.text == #"{"record":[{"id":2},{"id":3}]}"#)
        let one = try await same.call("GET /db/records/1")
        #expect([one.json["points"] as? Int, one.json["status"] as? Int] == [8, 2])

        #expect(try await ada.call("DELETE /db/records/4").text == #"{"id":4}"#)
        let deleted = try await same.call("DELETE /db/records?ids=1%2C2")
        #expect(deleted.text == #"{"record":[{"id":1},{"id":2}]}"#)
        // A message refers to it.
        #expect(try await same.call("DELETE /db/records/3").status == 409)
        #expect(try await ada.call("DELETE /db/messages/1").status == 200)
        #expect(try await same.call("DELETE /db/records/3?fields=*").json["title"] as? String == "Bug 3")
        #expect(try await ada.call("GET /db/records").text == #"{"record":[]}"#)

        #expect(try await ada.call("DELETE /user/session").text == #"{"success":true}"#)
        let refused = try await same.call("GET /db/records")
        #expect(refused.status == 401)
        #expect(refused.text == #"{"error":[{"message":"HTTP Token: Access denied.","code":401}]}"#)
    }
}
