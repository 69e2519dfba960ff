import ConnectionTestSupport
import DatabaseTestSupport
import Deadlines
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
    /// - Returns: What was told, and for how long each interruption lasted.
    private static func follow(
        _ proxied: TestService,
        _ member: TestMember,
        until last: String,
        onEvent: @escaping @Sendable (String) -> Void
    ) async throws -> (seen: [String], pauses: [Duration]) {
        var (seen, pauses, cursor): ([String], [Duration], String?) = ([], [], nil)
        var endTime: ContinuousClock.Instant?
        while seen.last != last {
            let headers = cursor.map { ["Last-Event-ID: \($0)"] } ?? []
            let known = cursor
            let (told, reached, retry) = try await EventClient.open(proxied, as: member, headers: headers) { client in
                var (told, reached): ([String], String?) = ([], known)
                while let event = try await client.next() {
                    if let id = event.id { reached = id }
                    if event.name == "synced" {
                        if let time = endTime { pauses.append(ContinuousClock.now - time) }
                    }
                    onEvent(event.summary)
                    if event.name == "change" { told.append(event.summary) }
                    if event.name == "end" { endTime = ContinuousClock.now }
                    if told.last == last { break }
                }
                let retry = client.received.firstMatch(of: /retry: (\d+)/).flatMap { Int($0.1) }
                return (told, reached, retry ?? 100)
            }
            seen += told
            cursor = reached
            if seen.last != last { try await Task.sleep(for: .milliseconds(retry)) }
        }
        return (seen, pauses)
    }

    @Test("Events come at once, and when a process ends, its clients go on at another within seconds and lose nothing")
    func restart() async throws {
        try await Self.withProxy { processes, proxied in
            let ada = try await processes[0].service.addMember("ada")
            let (events, continuation) = AsyncStream.makeStream(of: String.self)
            try await withThrowingTaskGroup(of: (seen: [String], pauses: [Duration]).self) { clients in
                // The proxy gives each process some of them.
                for _ in 0..<4 {
                    clients.addTask {
                        try await Self.follow(proxied, ada, until: "created houses h3") { continuation.yield($0) }
                    }
                }
                var arrivals = events.makeAsyncIterator()
                for _ in 0..<4 { #expect(await arrivals.next() == "synced ") }
                let start = ContinuousClock.now
                try await processes[1].service.put("houses/h0", as: ada, #"{"data":{"address":"a"}}"#)
                for _ in 0..<4 { #expect(await arrivals.next() == "created houses h0") }
                // A proxy that holds events back would wait for more.
                #expect(ContinuousClock.now - start < .seconds(5))
                try await processes[1].service.put("houses/h1", as: ada, #"{"data":{"address":"a"}}"#)
                processes[0].process.signal(SIGTERM)
                try await processes[1].service.put("houses/h2", as: ada, #"{"data":{"address":"a"}}"#)
                #expect(try await processes[0].process.waitForExit() == 0)
                // Those who were there are back.
                while let event = await arrivals.next(), event != "synced " {}
                try await processes[1].service.put("houses/h3", as: ada, #"{"data":{"address":"a"}}"#)
                var pauses: [Duration] = []
                for try await client in clients {
                    #expect(
                        client.seen == [
                            "created houses h0", "created houses h1", "created houses h2", "created houses h3",
                        ]
                    )
                    pauses += client.pauses
                }
                #expect(!pauses.isEmpty && pauses.allSatisfy { $0 < .seconds(5) }, "\(pauses)")
            }
        }
    }

    @Test("Events come at once, too, where nginx holds answers back as it does unless it is told otherwise")
    func buffering() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await NginxProxy.with([service.port], buffersAnswers: true) { port in
                let proxied = ServedSelfie.attach(
                    port: port,
                    databaseURL: service.databaseURL,
                    objects: service.objects,
                    postgres: service.postgres
                )
                try await EventClient.open(proxied, as: ada) { client in
                    // What is held back comes when the proxy gives up, after 35 seconds.
                    let start = ContinuousClock.now
                    #expect(try await client.next()?.summary == "synced ")
                    try await service.put("houses/h", as: ada, #"{"data":{"address":"a"}}"#)
                    #expect(try await client.next()?.summary == "created houses h")
                    #expect(ContinuousClock.now - start < .seconds(25))
                }
            }
        }
    }
}
