import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Profiles", .timeLimit(.minutes(2)))
struct MemberTests {
    @Test("A new account has a profile, whose id is random")
    func new() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let answer = try await service.call("GET", "/api/me", token: token)
            let id = try await service.memberID("ada")
            #expect(id.wholeMatch(of: /[0-9a-f]{32}/) != nil)
            #expect(
                answer.text == """
                    {"id":"\(id)","first_name":"Ada","last_name":"Lovelace","title":"","picture":null,"picture_id":null,\
                    "fields":{},"email":"ada@example.com","email_state":"unverified","shows_email":false}
                    """
            )
            let others = try await service.makeToken(email: "bob@example.com")
            let other = try await service.me(others)
            #expect(other["id"] as? String != id)
        }
    }

    @Test("Each part changes alone; what is left out stays, and spaces around names go")
    func changes() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            let unchanged = try await service.me(token)
            let empty = try await service.change(token, "{}")
            #expect(empty as NSDictionary == unchanged as NSDictionary)
            try await service.change(token, #"{"first_name":"  Ada Augusta\t"}"#)
            try await service.change(token, #"{"last_name":"King"}"#)
            try await service.change(token, #"{"title":" Countess "}"#)
            try await service.change(token, #"{"shows_email":true}"#)
            let changed = try await service.change(token, #"{"fields":{"a":1.50,"b":[null,{"c":"é"}]}}"#)
            #expect(changed["first_name"] as? String == "Ada Augusta" && changed["last_name"] as? String == "King")
            #expect(changed["title"] as? String == "Countess" && changed["shows_email"] as? Bool == true)
            let text = try await service.call("GET", "/api/me", token: token).text
            #expect(text.contains(#""fields":{"a":1.50,"b":[null,{"c":"é"}]}"#))
            let cleared = try await service.change(token, #"{"title":"","shows_email":false}"#)
            #expect(cleared["title"] as? String == "" && cleared["shows_email"] as? Bool == false)
            // A duplicate counts as the last, as everywhere.
            let twice = try await service.change(token, #"{"title":"One","title":"Two"}"#)
            #expect(twice["title"] as? String == "Two")
        }
    }

    @Test("Others see the profile, and the e-mail only if its owner shows it")
    func seen() async throws {
        try await TestService.run { service in
            let ada = try await service.addSession(name: "ada")
            let bob = try await service.addSession(name: "bob")
            let id = try await service.memberID("ada")
            try await service.change(ada, #"{"title":"Analyst","fields":{"room":7}}"#)
            let hidden = try await service.call("GET", "/api/members/\(id)", token: bob)
            #expect(
                hidden.text == """
                    {"id":"\(id)","first_name":"Ada","last_name":"Lovelace","title":"Analyst","picture":null,\
                    "picture_id":null,"fields":{"room":7}}
                    """
            )
            try await service.change(ada, #"{"shows_email":true}"#)
            let shown = try await service.call("GET", "/api/members/\(id)", token: bob)
            #expect(shown.json["email"] as? String == "ada@example.com")
            #expect(shown.headers["cache-control"] == "private, no-cache")
        }
    }

    @Test("A picture is one of the user's ready photos: its URL opens for others, until the photo is deleted")
    func picture() async throws {
        try await TestService.run { service in
            let (ada, bob) = (try await service.makeToken(), try await service.makeToken(email: "bob@example.com"))
            let photo = try await service.uploadPhoto(token: ada)
            let foreign = try await service.uploadPhoto(token: bob)
            let changed = try await service.change(ada, #"{"picture":"\#(photo)"}"#)
            #expect(changed["picture_id"] as? String == photo)
            let id = try await service.memberID("ada")
            for target in ["/api/me", "/api/members/\(id)"] {
                let answer = try await service.call("GET", target, token: target == "/api/me" ? ada : bob)
                let url = try #require(answer.json["picture"] as? String)
                let opened = try await service.send("GET", url)
                #expect(opened.status == 200 && opened.body == TestImage.png(bytes: 64))
            }
            for other in [foreign, "unknown", "", "\\u0000"] {
                let answer = try await service.call("PATCH", "/api/me", token: ada, json: #"{"picture":"\#(other)"}"#)
                #expect(
                    answer.status == 400
                        && answer.message == "picture - is invalid (the random_id of one of your photos, or null),",
                    "\(other)"
                )
            }
            try await service.postgres.write("UPDATE photos SET state = 'pending' WHERE random_id = \(foreign)")
            let pending = try await service.call("PATCH", "/api/me", token: bob, json: #"{"picture":"\#(foreign)"}"#)
            #expect(pending.status == 400 && pending.json["code"] as? String == "picture_invalid")
            let kept = try await service.me(ada)
            #expect(kept["picture_id"] as? String == photo)
            let none = try await service.change(ada, #"{"picture":null}"#)
            #expect(none["picture"] is NSNull && none["picture_id"] is NSNull)
            try await service.change(ada, #"{"picture":"\#(photo)"}"#)
            _ = try await service.delete(photo, token: ada)
            let gone = try await service.me(ada)
            #expect(gone["picture"] is NSNull && gone["picture_id"] is NSNull)
        }
    }

    @Test("A picture's URL belongs to its owner's series, which ends with all sessions")
    func series() async throws {
        try await TestService.run { service in
            let ada = try await service.makeToken()
            let photo = try await service.uploadPhoto(token: ada)
            let before = try await service.change(ada, #"{"picture":"\#(photo)"}"#)
            _ = try await service.call("POST", "/api/clear_token?all=true", token: ada)
            let after = try await service.me(try await service.newToken())
            let (old, new) = (try #require(before["picture"] as? String), try #require(after["picture"] as? String))
            #expect(try await service.send("GET", old).status == 403)
            #expect(try await service.send("GET", new).status == 200)
        }
    }

    private static let long = String(repeating: "x", count: 256)
    private static let fieldsInvalid =
        "fields - is invalid (a JSON object, with at most 30 combining marks in a row),"

    private static let refused: [(body: String, code: String, message: String)] = [
        (#"{"first_name":" \t "}"#, "first_name_blank", "first_name - can't be blank,"),
        (#"{"first_name":"A\u0000"}"#, "first_name_invalid", "first_name - is invalid,"),
        (#"{"first_name":"A\u0007B"}"#, "first_name_invalid", "first_name - is invalid,"),
        (#"{"first_name":null}"#, "first_name_invalid", "first_name - is invalid,"),
        (#"{"first_name":5}"#, "first_name_invalid", "first_name - is invalid,"),
        (
            #"{"last_name":"\#(long)"}"#, "last_name_too_long", "last_name - is too long (maximum is 255 characters),"
        ),
        (#"{"title":"\u001b[31m"}"#, "title_invalid", "title - is invalid,"),
        (#"{"title":"\#(long)"}"#, "title_too_long", "title - is too long (maximum is 255 characters),"),
        (#"{"title":null}"#, "title_invalid", "title - is invalid,"),
        (
            #"{"picture":7}"#, "picture_invalid",
            "picture - is invalid (the random_id of one of your photos, or null),"
        ),
        (#"{"shows_email":"true"}"#, "shows_email_invalid", "shows_email - is invalid (true or false),"),
        (#"{"shows_email":null}"#, "shows_email_invalid", "shows_email - is invalid (true or false),"),
        (#"{"fields":null}"#, "fields_invalid", fieldsInvalid),
        (#"{"fields":[1]}"#, "fields_invalid", fieldsInvalid),
        (#"{"fields":"{}"}"#, "fields_invalid", fieldsInvalid),
        (#"{"fields":{"a":"e\#(String(repeating: "\u{301}", count: 31))"}}"#, "fields_invalid", fieldsInvalid),
        (#"{"fields":{"a":["\u0000"]}}"#, "fields_has_null", "fields - contains U+0000, which can't be stored,"),
        (#"{"fields":{"\u0000":1}}"#, "fields_has_null", "fields - contains U+0000, which can't be stored,"),
        (
            #"{"fields":{"a":1e999}}"#, "fields_number_out_of_range", "fields - contains a number that is out of range,"
        ),
        (#"{"nickname":"A"}"#, "field_unknown", "nickname - is not known,"),
        (#"{"email":"new@example.com"}"#, "field_unknown", "email - is not known,"),
        (#"{"id":"1"}"#, "field_unknown", "id - is not known,"),
        (
            #"{"first_name":"","title":5,"picture":"x","fields":{"a":"\u0000"},"b":1}"#, "first_name_blank",
            """
            first_name - can't be blank,title - is invalid,b - is not known,\
            picture - is invalid (the random_id of one of your photos, or null),\
            fields - contains U+0000, which can't be stored,
            """
        ),
        ("[]", "json_not_an_object", "The request's JSON must be an object"),
        ("5", "json_not_an_object", "The request's JSON must be an object"),
    ]

    @Test("Invalid fields are refused by name, all errors together, and nothing changes")
    func refusals() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            try await service.change(token, #"{"title":"Before","fields":{"a":1}}"#)
            let before = try await service.state()
            for (body, code, message) in Self.refused {
                let answer = try await service.call("PATCH", "/api/me", token: token, json: body)
                #expect(answer.status == 400, "\(body): \(answer.text)")
                #expect(answer.json["code"] as? String == code && answer.message == message, "\(body): \(answer.text)")
            }
            #expect(try await service.state() == before)
        }
    }

    @Test("Fields are merged as RFC 7396 says")
    func merge() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            try await service.change(token, #"{"fields":{"a":{"b":1,"c":2},"d":[1],"e":"x"}}"#)
            try await service.change(
                token,
                #"{"fields":{"a":{"b":null,"n":{"o":null}},"d":[2,null],"e":null,"z":null}}"#
            )
            let text = try await service.call("GET", "/api/me", token: token).text
            #expect(text.contains(#""fields":{"a":{"c":2,"n":{}},"d":[2,null]},"#), "\(text)")
        }
    }

    @Test("All fields together have 8,192 bytes and 16 levels at most, whatever a change adds")
    func limits() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            // {"a":"…"} is eight bytes and the text.
            let full = String(repeating: "é", count: 4_092)
            try await service.change(token, #"{"fields": {"a" : "\#(full)"}}"#)
            for more in [#"{"a":"\#(full)x"}"#, #"{"b":1}"#] {
                let answer = try await service.call("PATCH", "/api/me", token: token, json: #"{"fields":\#(more)}"#)
                #expect(answer.status == 400 && answer.message == "fields - is too long (maximum is 8192 bytes),")
            }
            try await service.change(token, #"{"fields":{"a":null,"b":1}}"#)
            let deep = { (levels: Int) in
                #"{"fields":{"d":\#(String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1))}}"#
            }
            try await service.change(token, deep(16))
            let deeper = try await service.call("PATCH", "/api/me", token: token, json: deep(17))
            #expect(deeper.status == 400 && deeper.json["code"] as? String == "fields_too_deep")
        }
    }

    @Test("Of parallel changes none is lost")
    func parallel() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            try await withThrowingTaskGroup(of: Int.self) { changes in
                for number in 0..<30 {
                    changes.addTask {
                        let json = #"{"fields":{"n\#(number)":\#(number)}}"#
                        return try await service.call("PATCH", "/api/me", token: token, json: json).status
                    }
                }
                for try await status in changes { #expect(status == 200) }
            }
            let fields = try #require(try await service.me(token)["fields"] as? [String: Int])
            #expect(fields.count == 30 && fields.allSatisfy { $0 == "n\($1)" })
        }
    }

    @Test("The longest names of letters of four bytes are stored and found")
    func longest() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            // Different letters, so that no index makes them smaller.
            let name = String(String.UnicodeScalarView((0..<255).compactMap { Unicode.Scalar(0x20000 + $0 * 97) }))
            let json = #"{"first_name":"\#(name)","last_name":"\#(name)","title":"\#(name)"}"#
            try await service.change(token, json)
            let query = String(name.prefix(20)).formEncoded
            let page = try await service.call("GET", "/api/members?query=\(query)", token: token)
            #expect((page.json["members"] as? [[String: Any]])?.map { $0["title"] as? String } == [name])
        }
    }

    @Test("An account that is deleted takes its profile along; one that is disabled is not there for others")
    func gone() async throws {
        try await TestService.run { service in
            let (ada, bob) = (try await service.makeToken(), try await service.addSession(name: "bob"))
            let (adaID, bobID) = (try await service.memberID("ada"), try await service.memberID("bob"))
            try await service.change(ada, #"{"title":"Unforgettable word"}"#)
            _ = try await service.call("PUT", "/api/blocks/\(bobID)", token: ada)
            _ = try await service.call("PUT", "/api/blocks/\(adaID)", token: bob)
            try await service.postgres.write("UPDATE users SET disabled_at = now() WHERE member_id = \(bobID)")
            let disabled = try await service.call("GET", "/api/members/\(bobID)", token: ada)
            #expect(disabled.status == 404 && disabled.json["code"] as? String == "member_not_found")
            let list = try await service.call("GET", "/api/members", token: ada)
            #expect((list.json["members"] as? [[String: Any]])?.map { $0["id"] as? String } == [adaID])
            let deleted = try await service.sendForm(
                "DELETE",
                "/api/account",
                authorization: tokenHeader(ada),
                [("password", try TestService.encrypt("my password"))]
            )
            #expect(deleted.status == 200)
            #expect(try await service.count("SELECT count(*) FROM blocks") == 0)
            #expect(try await service.count("SELECT count(*) FROM users WHERE title <> ''") == 0)
        }
    }
}
