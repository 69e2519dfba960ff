import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Changes as events", .timeLimit(.minutes(3)))
struct EventStreamTests {
    @Test("Existing records come first, then changes of another process, with a cursor to resume from")
    func stream() async throws {
        try await TestService.runTwoWithSchema { first, second in
            let (ada, bob) = (try await first.addMember("ada"), try await first.addMember("bob"))
            try await first.put("houses/h1", as: ada, #"{"data":{"address":"a"}}"#)
            let last = try await EventClient.open(first, as: ada) { client in
                #expect(try await client.summaries(until: "synced") == ["created houses h1", "synced "])
                let head = client.head.lowercased()
                #expect(head.contains("content-type: text/event-stream") && head.contains("cache-control: no-store"))
                #expect(head.contains("x-accel-buffering: no") && !head.contains("content-encoding"))
                #expect(client.received.contains(/retry: [1-5]\d{3}\n\n/))
                try await second.put("houses/h2", as: ada, #"{"data":{"address":"b"}}"#)
                try await second.put("news/n1", as: bob, #"{"data":{"title":"n"}}"#)
                let message = "/api/members/\(ada.id)/records/inbox/m1"
                #expect(try await second.call("PUT", message, as: bob, #"{"data":{"text":"hello"}}"#).status == 200)
                let photo = try await second.upload(as: ada)
                #expect(try await second.call("DELETE", "/api/records/houses/h1", as: ada).status == 200)
                let seen = try await client.summaries(until: "deleted houses h1")
                #expect(
                    Set(seen) == [
                        "created houses h2", "created news n1", "created inbox m1", "created photos \(photo)",
                        "deleted houses h1",
                    ] && seen.count == 5
                )
                return client.lastID
            }
            // Nothing is missed while no client is connected, and nothing comes twice.
            try await second.put("houses/h3", as: ada, #"{"data":{"address":"c"}}"#)
            let header = "Last-Event-ID: \(try #require(last))"
            try await EventClient.open(second, as: ada, "?since=now", headers: [header]) { client in
                let seen = try await client.summaries(until: "synced")
                #expect(seen == ["created houses h3", "synced "])
            }
        }
    }

    @Test("Only changes that the reader may see come, and all readers of a record get the same")
    func sharing() async throws {
        try await TestService.runTwoWithSchema { first, second in
            let ada = try await first.addMember("ada", role: "team")
            let (bob, eve) = (try await first.addMember("bob", role: "team"), try await first.addMember("eve"))
            // A reader who got a change of a stream gets every end.
            try await first.put("priorities/o", as: ada, #"{"data":{"name":"secret 0"}}"#)
            let (synced, isSynced) = AsyncStream.makeStream(of: Void.self)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for (number, member) in [ada, bob, bob, eve].enumerated() {
                    tasks.addTask {
                        try await EventClient.open(number % 2 == 0 ? first : second, as: member) { client in
                            _ = try await client.summaries(until: "synced")
                            isSynced.yield()
                            // Two streams have no order.
                            let last = member.name == "eve" ? "created news end" : "deleted priorities p"
                            let seen = try await client.summaries(until: last)
                            guard member.name == "eve" else { return }
                            #expect(seen == [last] && !client.received.contains("secret"))
                        }
                    }
                }
                var count = 0
                for await _ in synced {
                    count += 1
                    if count == 4 { break }
                }
                try await second.put("priorities/p", as: ada, #"{"data":{"name":"secret"}}"#)
                try await first.put("priorities/p", as: bob, #"{"data":{"name":"secret 2"}}"#)
                #expect(try await first.call("DELETE", "/api/records/priorities/p", as: ada).status == 200)
                try await first.put("news/end", as: ada, #"{"data":{"title":"end"}}"#)
                try await tasks.waitForAll()
            }
        }
    }

    @Test(
        "A reader who loses a session, account, role or access learns it at once, and gets no later changes",
        arguments: ChangeLoss.allCases
    )
    func losses(loss: ChangeLoss) async throws {
        // A comparison alone would take up to ten seconds, and five on average.
        #expect(try await loss.happen(sendsNotifications: true) < .seconds(4))
    }

    @Test("A sign-in that ends the oldest session notifies its user's readers")
    func replaced() async throws {
        try await TestService.runWithSchema { service in
            #expect(try await service.signUp(email: "eve@example.com", password: "my password").status == 200)
            let user = try await service.count("SELECT id::bigint AS count FROM users")
            for _ in 0..<100 { #expect(try await service.signIn(email: "eve@example.com").status == 200) }
            for await event in service.postgres.listen(to: "selfie_changes") {
                switch event {
                case .mayHaveMissed: #expect(try await service.signIn(email: "eve@example.com").status == 200)
                case .notification(let notification):
                    #expect(notification.payload == "u\(user)")
                    return
                }
            }
        }
    }

    @Test("A reader who blocks a member keeps the stream without that member's changes; shared records stay")
    func block() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await service.put("threads/t", as: bob, #"{"data":{"x":1},"readers":["\#(ada.id)"]}"#)
            try await EventClient.open(service, as: ada) { client in
                _ = try await client.summaries(until: "synced")
                #expect(try await service.call("PUT", "/api/blocks/\(bob.id)", as: ada).status == 200)
                let message = "/api/members/\(ada.id)/records/inbox/m1"
                #expect(try await service.call("PUT", message, as: bob, #"{"data":{"text":"marker"}}"#).status >= 400)
                let invited = #"{"data":{"x":"marker"},"readers":["\#(ada.id)"]}"#
                #expect(try await service.call("PUT", "/api/records/threads/u", as: bob, invited).status >= 400)
                #expect(
                    try await service.call("PATCH", "/api/records/threads/t", as: bob, #"{"data":{"x":2}}"#).status
                        == 200
                )
                try await service.put("threads/own", as: ada, #"{"data":{"x":1}}"#)
                // What Bob has changed is in no feed of Ada's, and can still be read.
                #expect(try await client.next()?.summary == "created threads own")
                #expect(!client.received.contains("marker"))
                #expect(try await service.call("GET", "/api/records/threads/t", as: ada).json["version"] as? Int == 2)
                // The deletion is sent.
                #expect(try await service.call("DELETE", "/api/records/threads/t", as: bob).status == 200)
                #expect(try await client.next()?.summary == "deleted threads t")
            }
        }
    }

    @Test("A stream of a process that can't read a newer schema ends, and its client resumes at another")
    func newerSchema() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await EventClient.open(service, as: ada) { client in
                _ = try await client.summaries(until: "synced")
                try await service.postgres.write(
                    """
                    INSERT INTO schema_definitions (version, definition)
                    SELECT max(version) + 1, '{"collections":{"houses":{"access":"of the future"}}}' FROM schema_definitions
                    """
                )
                try await service.postgres.write("SELECT pg_notify('selfie_changes', '*')")
                #expect(try await client.next()?.summary == "end restart")
            }
        }
    }

    @Test("An expired record is deleted for its followers")
    func expiry() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await service.put("news/n", as: ada, #"{"data":{"title":"n"},"expires_at":"2099-01-01T00:00:00Z"}"#)
            try await EventClient.open(service, as: ada) { client in
                #expect(try await client.summaries(until: "synced") == ["created news n", "synced "])
                try await service.postgres.write(
                    "UPDATE records SET expires_at = now() AT TIME ZONE 'UTC' - INTERVAL '1 hour'"
                )
                await RecordEndTests.tidy(service)
                #expect(try await client.next()?.summary == "deleted news n")
            }
        }
    }

    @Test("With notifications lost, a comparison finds changes and lost rights")
    func lostNotification() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let owner = try await service.addMember("owner", role: "team")
            try await EventClient.open(service, as: ada) { client in
                _ = try await client.summaries(until: "synced")
                // Behind the service's back: nobody is notified.
                try await service.postgres.write(
                    """
                    WITH added AS (
                        INSERT INTO records (collection_id, id, owner_id, data, byte_count)
                        SELECT id, 'quiet', \(owner.userID), '{"name":"q"}', 12 FROM collections WHERE name = 'priorities'
                        RETURNING key, collection_id
                    ), numbered AS (
                        UPDATE streams SET seq = seq + 1 WHERE role_id = (SELECT id FROM roles WHERE name = 'team')
                        RETURNING id, seq
                    )
                    INSERT INTO grants (stream_id, collection_id, record_key, rights, seq, shown_seq)
                    SELECT id, collection_id, key, 3, seq, seq FROM added, numbered
                    """
                )
                #expect(try await client.next()?.summary == "created priorities quiet")
                try await service.postgres.write("DELETE FROM role_members WHERE user_id = \(ada.userID)")
                #expect(try await client.next()?.summary == "reset access")
            }
        }
    }

    @Test("A malformed cursor, and a collection removed meanwhile, begin again")
    func resets() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await EventClient.open(service, as: ada, headers: ["Last-Event-ID: 42"]) { client in
                let event = try await client.next()
                #expect(event?.summary == "reset database")
            }
            try await EventClient.open(service, as: ada, "?collections=inbox") { client in
                _ = try await client.summaries(until: "synced")
                let schema = try TestService.exampleSchema.replacing(#""inbox": {"access": "inbox"},"#, with: "")
                try await service.apply(schema)
                #expect(try await client.next()?.summary == "reset access")
            }
        }
    }

    @Test("A stream outlasts a short outage of the database")
    func outage() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await EventClient.open(service, as: ada) { client in
                _ = try await client.summaries(until: "synced")
                for number in 0..<5 {
                    try await service.postgres.write(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                        """
                    )
                    try await poll("a write") {
                        try await service.send(
                            "PUT",
                            "/api/records/houses/h\(number)",
                            headers: [("Authorization", "Bearer \(ada.token)"), ("Content-Type", "application/json")],
                            body: Data(#"{"data":{"address":"a"}}"#.utf8)
                        ).status == 200
                    }
                    #expect(try await client.next()?.json["id"] as? String == "h\(number)")
                }
            }
        }
    }

    @Test("A process that ends says so, and a session that expires does")
    func ends() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await service.postgres.write(
                "UPDATE sessions SET expires_at = \(service.clock.now + 3_600) WHERE user_id = \(bob.userID)"
            )
            try await EventClient.open(service, as: ada) { client in
                _ = try await client.summaries(until: "synced")
                try await EventClient.open(service, as: bob) { other in
                    _ = try await other.summaries(until: "synced")
                    service.clock.advance(by: 2 * 3_600)
                    // It is looked at when something happens, or when the time has come by the process's own clock.
                    try await service.put("houses/x", as: ada, #"{"data":{"address":"a"}}"#)
                    try await service.put("news/x", as: ada, #"{"data":{"title":"a"}}"#)
                    // Without an id, so that the client keeps its own.
                    let end = try #require(try await other.event(named: "end"))
                    #expect(end.summary == "end expired" && end.id == nil)
                }
                await service.beginShutdown()
                let end = try #require(try await client.event(named: "end"))
                #expect(end.summary == "end restart" && end.id == nil)
                #expect(try await client.next() == nil)
            }
        }
    }
}
