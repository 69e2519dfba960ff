import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("References of records", .timeLimit(.minutes(3)))
struct ReferenceTests {
    @Test("Nothing that is referred to can be deleted, until nothing refers to it")
    func referredTo() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let missing = try await service.call(
                "POST",
                "/api/records/bugs",
                as: ada,
                #"{"data":{"title":"x","priority":"high","assignedUser":"nobody"}}"#
            )
            #expect(missing.status == 400 && missing.code == "record_invalid")
            for field in ["priority", "assignedUser"] {
                let message = "\(field) - does not exist, or you may not use it,"
                #expect(missing.message?.contains(message) == true, "\(field)")
            }
            for id in ["high", "low"] {
                let put = try await service.call(
                    "PUT",
                    "/api/records/priorities/\(id)",
                    as: ada,
                    #"{"data":{"name":"\#(id)"}}"#
                )
                #expect(put.status == 200)
            }
            let bug = try await service.call(
                "POST",
                "/api/records/bugs",
                as: ada,
                #"{"id":"b1","data":{"title":"x","priority":"high","assignedUser":"\#(ada.id)"}}"#
            )
            #expect(bug.status == 200, "\(bug.text)")
            let refused = try await service.call("DELETE", "/api/records/priorities/high", as: ada)
            #expect(refused.status == 409 && refused.code == "record_referred_to")
            let many = try await service.call("DELETE", "/api/records/priorities?ids=low,high", as: ada)
            #expect(many.status == 409 && many.message?.contains("record 1") == true)
            #expect(try await service.ids("priorities", as: ada) == ["high", "low"])
            let moved = try await service.call(
                "PATCH",
                "/api/records/bugs/b1",
                as: ada,
                #"{"data":{"priority":"low"}}"#
            )
            #expect(moved.status == 200)
            #expect(try await service.call("DELETE", "/api/records/priorities/high", as: ada).status == 200)
            #expect(try await service.call("DELETE", "/api/records/priorities/low", as: ada).status == 409)
            #expect(try await service.call("DELETE", "/api/records/bugs/b1", as: ada).status == 200)
            #expect(try await service.call("DELETE", "/api/records/priorities/low", as: ada).status == 200)
            try await service.expectSoundStreams()
        }
    }

    @Test("Records of one call may refer to each other")
    func together() async throws {
        let schema = """
            {"collections": {"nodes": {"access": "private", "fields": {"next": {"type": "reference", "to": "nodes"}}}}}
            """
        try await TestService.runWithSchema(schema) { service in
            let ada = try await service.addMember("ada")
            let made = try await service.call(
                "POST",
                "/api/records/nodes",
                as: ada,
                #"[{"id":"a","data":{"next":"b"}},{"id":"b","data":{"next":"a"}},{"id":"c","data":{"next":"c"}}]"#
            )
            #expect(made.status == 200, "\(made.text)")
            #expect(try await service.call("DELETE", "/api/records/nodes/a", as: ada).status == 409)
            #expect(try await service.call("DELETE", "/api/records/nodes/c", as: ada).status == 200)
            #expect(
                try await service.call("DELETE", "/api/records/nodes?ids=a,b", as: ada).json["deleted"] as? Int == 2
            )
            try await service.expectSoundStreams()
        }
    }

    @Test("include has what the reader may see, each once")
    func include() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            _ = try await service.call("PUT", "/api/records/priorities/p", as: ada, #"{"data":{"name":"P"}}"#)
            _ = try await service.call("PUT", "/api/records/statuses/s", as: ada, #"{"data":{"name":"S"}}"#)
            for id in 1...3 {
                let put = try await service.call(
                    "PUT",
                    "/api/records/bugs/b\(id)",
                    as: ada,
                    #"{"data":{"title":"x","priority":"p","status":"s"}}"#
                )
                #expect(put.status == 200)
            }
            let page = try await service.call("GET", "/api/records/bugs?include=priority,status", as: ada)
            let included = page.json["included"] as? [[String: Any]] ?? []
            #expect(page.records.count == 3)
            #expect(included.compactMap { $0["id"] as? String } == ["p", "s"])
            #expect(included.compactMap { $0["collection"] as? String } == ["priorities", "statuses"])
            let plain = try await service.call("GET", "/api/records/bugs", as: ada)
            #expect((plain.json["included"] as? [Any])?.isEmpty == true)
            let wrong = try await service.call("GET", "/api/records/bugs?include=title", as: ada)
            #expect(wrong.status == 400 && wrong.code == "include_no_reference")
        }
    }

    @Test("A message sets its thread's last one, if its author may write the thread")
    func parent() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let cleo = try await service.addMember("cleo")
            let thread = [ada.id, bob.id].sorted().joined(separator: ":")
            let made = try await service.call(
                "PUT",
                "/api/records/threads/\(thread)",
                as: ada,
                #"{"data":{},"writers":["\#(bob.id)"]}"#
            )
            #expect(made.status == 200, "\(made.text)")
            for (number, author) in [ada, bob].enumerated() {
                let reader = author.name == "ada" ? bob : ada
                let sent = try await service.call(
                    "PUT",
                    "/api/records/messages/m\(number)",
                    as: author,
                    #"{"data":{"threadId":"\#(thread)","text":"hello"},"readers":["\#(reader.id)"]}"#
                )
                #expect(sent.status == 200, "\(sent.text)")
                for member in [ada, bob] {
                    let list = try await service.call("GET", "/api/records/threads?include=lastMessage", as: member)
                    #expect((list.records[0]["data"] as? [String: Any])?["lastMessage"] as? String == "m\(number)")
                    let included = (list.json["included"] as? [[String: Any]])?.first
                    #expect((included?["data"] as? [String: Any])?["text"] as? String == "hello")
                    let query = "&where=\(#"{"threadId":"\#(thread)"}"#.formEncoded)"
                    #expect(try await service.ids("messages", as: member, query: query).count == number + 1)
                }
            }
            // Cleo sees neither the thread nor the messages, and can't write into it.
            #expect(try await service.call("GET", "/api/records/threads/\(thread)", as: cleo).status == 404)
            let refused = try await service.call(
                "POST",
                "/api/records/messages",
                as: cleo,
                #"{"data":{"threadId":"\#(thread)","text":"hi"}}"#
            )
            #expect(refused.status == 400 && refused.message?.contains("threadId") == true)
            // A reader's message leaves the thread as it is.
            _ = try await service.call(
                "PATCH",
                "/api/records/threads/\(thread)",
                as: ada,
                #"{"readers":["\#(bob.id)","\#(cleo.id)"]}"#
            )
            let sent = try await service.call(
                "POST",
                "/api/records/messages",
                as: cleo,
                #"{"data":{"threadId":"\#(thread)","text":"hi"}}"#
            )
            #expect(sent.status == 200, "\(sent.text)")
            let seen = try await service.call("GET", "/api/records/threads/\(thread)", as: ada)
            #expect(seen.data["lastMessage"] as? String == "m1")
            // It can't be removed by hand. When the message is deleted, it names none.
            for (method, body) in [("PUT", #"{"data":{}}"#), ("PATCH", #"{"data":{"lastMessage":null}}"#)] {
                let kept = try await service.call(method, "/api/records/threads/\(thread)", as: ada, body)
                #expect(kept.status == 200 && kept.data["lastMessage"] as? String == "m1", "\(kept.text)")
            }
            let before = try await service.call("GET", "/api/records/threads/\(thread)", as: ada)
            #expect(try await service.call("DELETE", "/api/records/messages/m1", as: bob).status == 200)
            let cleared = try await service.call("GET", "/api/records/threads/\(thread)", as: ada)
            #expect(cleared.data["lastMessage"] is NSNull)
            #expect(cleared.json["version"] as? Int == (before.json["version"] as? Int ?? 0) + 1)
            // A message that is not the last one leaves the thread as it is.
            #expect(try await service.call("DELETE", "/api/records/messages/m0", as: ada).status == 200)
            let same = try await service.call("GET", "/api/records/threads/\(thread)", as: ada)
            #expect(same.json["version"] as? Int == cleared.json["version"] as? Int)
            try await service.expectSoundStreams()
        }
    }

    @Test("An older schema that requires a field set by a parent still works, and accepts null there")
    func requiredSetField() async throws {
        try await TestService.runWithSchema { service in
            // What newer services refuse in a file.
            try await service.postgres.write(
                """
                INSERT INTO schema_definitions (version, definition)
                SELECT max(version) + 1, '{"collections":{
                    "threads":{"access":"acl","open":true,
                        "fields":{"lastMessage":{"type":"reference","to":"messages","required":true}}},
                    "messages":{"access":"acl","fields":{"threadId":{"type":"reference","to":"threads","required":true}},
                        "parent":{"field":"threadId","set":"lastMessage"}}
                }}' FROM schema_definitions
                """
            )
            let ada = try await service.addMember("ada")
            let thread = "/api/records/threads/t"
            #expect(try await service.call("PUT", thread, as: ada, #"{"data":{}}"#).status == 200)
            let message = #"{"data":{"threadId":"t"}}"#
            #expect(try await service.call("PUT", "/api/records/messages/m", as: ada, message).status == 200)
            #expect(try await service.call("GET", thread, as: ada).data["lastMessage"] as? String == "m")
            #expect(try await service.call("DELETE", "/api/records/messages/m", as: ada).status == 200)
            #expect(try await service.call("GET", thread, as: ada).data["lastMessage"] is NSNull)
            for method in ["PATCH", "PUT"] {
                let changed = try await service.call(method, thread, as: ada, #"{"data":{"topic":"\#(method)"}}"#)
                #expect(changed.status == 200 && changed.data["topic"] as? String == method, "\(changed.text)")
                #expect(changed.data["lastMessage"] is NSNull)
            }
            try await service.expectSoundStreams()
        }
    }

    @Test("One of the author's photos opens for readers of the record; others' photos are refused")
    func photos() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let photo = try await service.uploadPhoto(token: ada.token)
            let thread = try await service.call(
                "PUT",
                "/api/records/threads/t",
                as: ada,
                #"{"data":{},"writers":["\#(bob.id)"]}"#
            )
            #expect(thread.status == 200)
            let body = #"{"data":{"threadId":"t","picture":"\#(photo)"},"writers":["\#(bob.id)"]}"#
            let sent = try await service.call("PUT", "/api/records/messages/m", as: ada, body)
            #expect(sent.status == 200, "\(sent.text)")
            for member in [ada, bob] {
                for answer in [
                    try await service.call("GET", "/api/records/messages/m", as: member).json,
                    try await service.call("GET", "/api/records/messages", as: member).records[0],
                ] {
                    let url = try #require((answer["photos"] as? [String: String])?["picture"])
                    #expect(try await service.send("GET", url).status == 200)
                }
            }
            // Bob may not show Ada's photo elsewhere, but keeps it in this message.
            let stolen = try await service.call(
                "POST",
                "/api/records/messages",
                as: bob,
                #"{"data":{"threadId":"t","picture":"\#(photo)"}}"#
            )
            #expect(stolen.status == 400 && stolen.message?.contains("picture") == true)
            let kept = try await service.call("PATCH", "/api/records/messages/m", as: bob, #"{"data":{"text":"hi"}}"#)
            #expect(kept.status == 200 && (kept.json["photos"] as? [String: String])?["picture"] != nil)
            // When the photo is deleted, the record stays and has no URL.
            #expect(try await service.delete(photo, token: ada.token).status == 200)
            let without = try await service.call("GET", "/api/records/messages/m", as: bob)
            #expect(without.data["picture"] as? String == photo)
            #expect((without.json["photos"] as? [String: String])?.isEmpty == true)
        }
    }
}
