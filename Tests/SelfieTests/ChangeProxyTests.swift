import Concurrency
import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("Changes through nginx", .timeLimit(.minutes(3)))
struct ChangeProxyTests {
    /// Runs a body with two processes behind a proxy.
    private static func withProxy(_ body: ([ServedSelfie], _ proxied: TestService) async throws -> Void) async throws {
        try await ServedSelfie.run(settings: settings) { first in
            let service = first.service
            let second = try await ServedSelfie.start(
                databaseURL: service.databaseURL,
                objects: service.objects,
                settings: settings,
                postgres: service.postgres
            )
            try await service.apply(try TestService.exampleSchema)
            try await NginxProxy.with([service.port, second.service.port]) { port in
                let proxied = ServedSelfie.attach(
                    port: port,
                    databaseURL: service.databaseURL,
                    objects: service.objects,
                    postgres: service.postgres
                )
                try await body([first, second], proxied)
            }
        }
    }

    private static let settings = ["RATE_LIMITS": "off", "TRUSTED_PROXIES": "1"]

    /// Follows until a house of a name, and comes again when a process ends.
    ///
    /// - Returns: The changes, and the milliseconds until each `end`.
    private static func follow(
        _ proxied: TestService,
        _ member: TestMember,
        until last: String,
        onEvent: @escaping @Sendable (String) -> Void
    ) async throws -> (seen: [String], retries: [Int]) {
        var (seen, retries, cursor): ([String], [Int], String?) = ([], [], nil)
        while seen.last != last {
            let headers = cursor.map { ["Last-Event-ID: \($0)"] } ?? []
            let known = cursor
            let (new, reached, retry) = try await EventClient.open(proxied, as: member, headers: headers) { client in
                var (new, reached): ([String], String?) = ([], known)
                while let event = try await client.next() {
                    if let id = event.id { reached = id }
                    onEvent(event.summary)
                    if event.name == "change" { new.append(event.summary) }
                    if new.last == last { break }
                }
                let retry = client.received.firstMatch(of: /retry: (\d+)/).flatMap { Int($0.1) }
                return (new, reached, retry)
            }
            seen += new
            cursor = reached
            guard seen.last != last else { break }
            // A proxy that finds no process names no time.
            if let retry { retries.append(retry) }
            try await Task.sleep(for: .milliseconds(retry ?? 100))
        }
        return (seen, retries)
    }

    @Test("Events arrive while the stream is open. When a process ends, clients reconnect soon and lose nothing")
    func restart() async throws {
        try await Self.withProxy { processes, proxied in
            let ada = try await processes[0].service.addMember("ada")
            let (events, continuation) = AsyncStream.makeStream(of: String.self)
            try await withThrowingTaskGroup(of: (seen: [String], retries: [Int]).self) { clients in
                // The proxy gives each process some of them.
                for _ in 0..<4 {
                    clients.addTask {
                        try await Self.follow(proxied, ada, until: "created houses h3") { continuation.yield($0) }
                    }
                }
                var arrivals = events.makeAsyncIterator()
                for _ in 0..<4 { #expect(await arrivals.next() == "synced ") }
                // A proxy that holds events back would do so until the stream ends.
                try await processes[1].service.put("houses/h0", as: ada, #"{"data":{"address":"a"}}"#)
                for _ in 0..<4 { #expect(await arrivals.next() == "created houses h0") }
                try await processes[1].service.put("houses/h1", as: ada, #"{"data":{"address":"a"}}"#)
                processes[0].process.signal(SIGTERM)
                try await processes[1].service.put("houses/h2", as: ada, #"{"data":{"address":"a"}}"#)
                #expect(try await processes[0].process.waitForExit() == 0)
                // The clients from before are connected again.
                while let event = await arrivals.next(), event != "synced " {}
                try await processes[1].service.put("houses/h3", as: ada, #"{"data":{"address":"a"}}"#)
                var retries: [Int] = []
                for try await client in clients {
                    #expect(
                        client.seen == [
                            "created houses h0", "created houses h1", "created houses h2", "created houses h3",
                        ]
                    )
                    retries += client.retries
                }
                #expect(!retries.isEmpty && retries.allSatisfy { (1_000...4_000).contains($0) }, "\(retries)")
            }
        }
    }

    @Test("So they do behind an nginx that buffers answers, as it does by default")
    func buffering() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await NginxProxy.with([service.port], options: .buffersAnswers) { port in
                let proxied = ServedSelfie.attach(
                    port: port,
                    databaseURL: service.databaseURL,
                    objects: service.objects,
                    postgres: service.postgres
                )
                try await EventClient.open(proxied, as: ada) { client in
                    // What is held back comes when the stream ends, and nothing comes behind it.
                    #expect(try await client.next()?.summary == "synced ")
                    try await service.put("houses/h", as: ada, #"{"data":{"address":"a"}}"#)
                    #expect(try await client.next()?.summary == "created houses h")
                }
            }
        }
    }
}
