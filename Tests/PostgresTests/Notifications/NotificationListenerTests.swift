import ServerProcesses
import Testing

@testable import Postgres

@Suite("LISTEN and NOTIFY", .timeLimit(.minutes(2)))
struct NotificationListenerTests {
    private typealias Events = AsyncStream<PostgresNotificationEvent>

    private func notify(_ client: PostgresClient, _ channel: String, _ payload: String) async throws {
        try await client.write("SELECT pg_notify(\(channel), \(payload))")
    }

    private func payloads(_ events: inout Events.Iterator, count: Int) async -> [String?] {
        var payloads: [String?] = []
        while payloads.count < count, let event = await events.next(isolation: #isolation) {
            if case .notification(let notification) = event {
                payloads.append(notification.payload)
            } else {
                payloads.append(nil)
            }
        }
        return payloads
    }

    @Test("A listener learns when listening begins, and then gets each notification, in order")
    func notifications() async throws {
        try await withClient { client, _ async throws in
            var events = client.listen(to: "news").makeAsyncIterator()
            #expect(await events.next(isolation: #isolation) == .mayHaveMissed)
            for number in 0..<100 { try await notify(client, "news", "number \(number)") }
            #expect(await payloads(&events, count: 100) == (0..<100).map { "number \($0)" })
        }
    }

    @Test(
        "Any name of a channel is taken as it is, and any text arrives",
        arguments: ["Upper", "with \"quotes\"", "with space; DROP TABLE x", "ünï"]
    )
    func names(channel: String) async throws {
        try await withClient { client, _ async throws in
            var events = client.listen(to: channel).makeAsyncIterator()
            #expect(await events.next(isolation: #isolation) == .mayHaveMissed)
            for payload in ["", "ünï", "{\"a\": 1}\n"] {
                try await notify(client, channel.lowercased() + "other", "not this")
                try await notify(client, channel, payload)
                let event = await events.next(isolation: #isolation)
                guard case .notification(let notification) = event else {
                    Issue.record("\(String(describing: event))")
                    return
                }
                #expect(notification.channel == channel && notification.payload == payload)
                #expect(notification.processID > 0)
            }
        }
    }

    @Test("A lost connection is opened again, and the listener learns that it may have missed something")
    func reconnect() async throws {
        try await withClient { client, url async throws in
            var events = client.listen(to: "news").makeAsyncIterator()
            #expect(await events.next(isolation: #isolation) == .mayHaveMissed)
            for round in 0..<3 {
                try await Sessions.watching(url) { sessions async throws in
                    try await poll("it is ended") { try await sessions.terminate(running: "LISTEN") == 1 }
                }
                #expect(await events.next(isolation: #isolation) == .mayHaveMissed)
                try await notify(client, "news", "round \(round)")
                #expect(await payloads(&events, count: 1) == ["round \(round)"])
            }
        }
    }

    @Test("The connection is beside the pool's, and ends with the listener")
    func ownConnection() async throws {
        try await withClient(maxConnections: 1) { client, url async throws in
            try await Sessions.watching(url) { sessions async throws in
                let task = Task {
                    var count = 0
                    for await event in client.listen(to: "news") where event != .mayHaveMissed { count += 1 }
                    return count
                }
                try await poll("it listens") { try await sessions.count() == 1 }
                try await client.withConnection { _ async throws in #expect(try await sessions.count() == 2) }
                task.cancel()
                #expect(await task.value == 0)
                try await poll("it has ended") { try await sessions.count() == 1 }
            }
        }
    }

    @Test("A listener that is too slow gets the first 1024 notifications, and learns that there were more")
    func slowListener() async throws {
        try await withClient { client, _ async throws in
            var events = client.listen(to: "news").makeAsyncIterator()
            #expect(await events.next(isolation: #isolation) == .mayHaveMissed)
            try await client.write("SELECT pg_notify('news', n::text) FROM generate_series(1, 1500) AS n")
            let listener = try #require(client.listeners.all.first)
            try await poll("some were dropped") { await listener.hasMissed }
            let payloads = await payloads(&events, count: 1025)
            #expect(payloads == (1...1024).map { "\($0)" } + [nil])
            // From then on it gets notifications again, and misses some again if there is room for a few only.
            try await notify(client, "news", "the last")
            while let event = await events.next(isolation: #isolation) {
                if case .notification(let notification) = event, notification.payload == "the last" { return }
            }
            Issue.record("the sequence has ended")
        }
    }

    @Test("A closed client ends its listeners, and takes no more")
    func close() async throws {
        try await withClient { client, _ async throws in
            var events = client.listen(to: "news").makeAsyncIterator()
            #expect(await events.next(isolation: #isolation) == .mayHaveMissed)
            await client.close()
            #expect(await events.next(isolation: #isolation) == nil)
            var late = client.listen(to: "news").makeAsyncIterator()
            #expect(await late.next(isolation: #isolation) == nil)
        }
    }
}
