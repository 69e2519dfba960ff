import Curl
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import SelfieApp

/// The measurements of the feed of changes.
struct ChangeMeasurements: Sendable {
    let stage: Stage
    let wrk: Wrk
    let seconds: Int
    /// A part of the ids of this round's records.
    let round: Int

    private static let sampleCount = 300
    private static let fanOutCount = 10
    /// How many streams a process must have without slower lists.
    private static let fewerCount = 5_000
    /// How often the list is measured before it counts: a new process takes a while to be as quick as it gets.
    private static let warmUpCount = 2
    private static let writeConnections = 8
    /// So few that the machine is not busy: otherwise, the slowest lists only show that it is.
    private static let listConnections = 4
    /// Descriptors of a process that has permits for so many streams, and for what else it may do.
    private static let minFileCount = 18_000
    /// How long a stream whose client has left may keep its permit: until its next comment.
    private static let leavingTime: Duration = .seconds(16)
    /// How long a service takes to give back memory that it does not need.
    private static let trimTime: Duration = .seconds(11)

    private var store: [String: String] { ["OBJECTS_PATH": stage.folder.appending(path: "objects").path] }

    func run(_ results: inout Results) async throws {
        let tokens = BenchData.followerTokens
        guard OpenFileLimit.raise() >= Self.minFileCount else {
            throw BenchError.missing("a limit of \(Self.minFileCount) open files (ulimit -Hn)")
        }
        say("  new records with and without notifications, 16 connections")
        // The table grows meanwhile, so each is first in turn.
        for sendsNotifications in round.isMultiple(of: 2) ? [true, false] : [false, true] {
            let name = sendsNotifications ? "With" : "Without"
            results.add(
                "newRecord\(name)Notifications",
                "New record \(name.lowercased()) notifications, 16 connections",
                try await creations(sendsNotifications: sendsNotifications)
            )
        }
        say("  the time from a write's answer to its event at another process, and to a notification of PostgreSQL's")
        results.add("event", "Write's answer to event at another process", try await eventTimes())
        results.add("notification", "PostgreSQL's write to notification", try await notificationTimes())
        say("  the memory of \(tokens.count) idle connections")
        results.add(
            "kibibytesPerIdleConnection",
            "Memory of an idle connection: KiB",
            try await idleKibibytes(count: tokens.count)
        )
        say("  \(Self.fewerCount) and \(tokens.count) streams: memory, the list, writes, one change to all")
        let bytes = try await Service.with(databaseURL: stage.databaseURL, store: store) { service in
            // The first lists open connections to the database.
            for _ in 0..<Self.warmUpCount { _ = try await list(at: service) }
            results.add("pacedList", "List, 4 connections, 10 ms after an answer", try await list(at: service))
            let before = try Memory(processID: service.processID).residentMebibytes
            let (list, writes) = try await listBesideWrites(at: service)
            results.add("pacedListBesideWrites", "That list with writes", list)
            results.add("writesBesideList", "Writes with lists", writes)
            try await streams(Array(tokens.prefix(Self.fewerCount)), at: service) { _ in
                try await Task.sleep(for: Self.trimTime)
                let list = try await self.list(at: service)
                results.add("pacedListBesideFewerStreams", "That list with 5,000 streams", list)
            }
            try await Task.sleep(for: Self.leavingTime)
            return try await streams(tokens, at: service) { clients in
                try await Task.sleep(for: Self.trimTime)
                let after = try Memory(processID: service.processID).residentMebibytes
                let kibibytes = (after - before) * 1024 / Double(tokens.count)
                results.add("kibibytesPerStream", "Memory of an idle stream: KiB", kibibytes)
                let (list, writes) = try await listBesideWrites(at: service)
                results.add("pacedListBesideBoth", "That list with 10,000 streams and writes", list)
                results.add("writesBesideStreams", "Writes with streams and lists", writes)
                let fanOut = try await fanOut(clients, at: service, count: tokens.count)
                results.add("fanOut", "Write to event at 10,000 streams", fanOut.times)
                return fanOut.bytes
            }
        }
        results.add(
            "rawFanOut",
            "The same bytes to 10,000 sockets",
            try await rawFanOut(bytes: bytes, count: tokens.count)
        )
    }

    private func creations(sendsNotifications: Bool) async throws -> LoadMeasurement {
        try await PlainService.with(
            databaseURL: stage.databaseURL,
            store: store,
            sendsNotifications: sendsNotifications
        ) { service in
            _ = try await wrk.run(.newRecords, at: service.origin, connections: 16, seconds: 1)
            return try await wrk.run(.newRecords, at: service.origin, connections: 16, seconds: seconds)
        }
    }

    // MARK: One client

    private func eventTimes() async throws -> TimeMeasurement {
        try await streams(["token-1"], at: stage.otherService) { clients in
            var times: [Duration] = []
            for number in 0..<Self.sampleCount {
                clients.expect(#""id":"late-\#(round)-\#(number)""#)
                try await put("notes/late-\(round)-\(number)", at: stage.service)
                // The answer comes right after the commit. An event may be quicker.
                let start = ContinuousClock.now
                try await clients.all()
                times.append(ContinuousClock.now - start)
            }
            return TimeMeasurement(times)
        }
    }

    /// The least that PostgreSQL needs: one statement writes and notifies, one connection listens.
    private func notificationTimes() async throws -> TimeMeasurement {
        let configuration = try PostgresConfiguration(url: stage.databaseURL, maxConnections: 1)
        return try await PostgresClient.withClient(configuration: configuration) { postgres in
            try await postgres.write("CREATE TABLE IF NOT EXISTS raw_changes (id bigint, data text)")
            var (times, start, number): ([Duration], ContinuousClock.Instant, Int) = ([], .now, 0)
            for await event in postgres.listen(to: "raw_changes") {
                if case .notification = event {
                    times.append(ContinuousClock.now - start)
                    if times.count == Self.sampleCount { break }
                }
                number += 1
                start = .now
                try await postgres.write(
                    """
                    WITH written AS (INSERT INTO raw_changes VALUES (\(number), 'A note of some words') RETURNING id)
                    SELECT pg_notify('raw_changes', id::text) FROM written
                    """
                )
            }
            return TimeMeasurement(times)
        }
    }

    // MARK: Many clients

    private func idleKibibytes(count: Int) async throws -> Double {
        try await Service.with(databaseURL: stage.databaseURL, store: store) { service in
            _ = try await list(at: service)
            let before = try Memory(processID: service.processID).residentMebibytes
            return try await StreamClients.with(
                count,
                port: service.port,
                until: "\r\n\r\n[",
                request: { number in
                    """
                    GET /api/get_photos HTTP/1.1\r
                    Host: localhost\r
                    Authorization: Token token=token-\(number % BenchData.userCount + 1)\r
                    \r

                    """
                }
            ) { _ in
                try await Task.sleep(for: Self.trimTime)
                let after = try Memory(processID: service.processID).residentMebibytes
                return (after - before) * 1024 / Double(count)
            }
        }
    }

    private func streams<Result: Sendable>(
        _ tokens: [String],
        at service: RunningServer,
        _ body: (StreamClients) async throws -> Result
    ) async throws -> Result {
        try await StreamClients.with(
            tokens.count,
            port: service.port,
            until: "event: synced",
            request: { number in
                """
                GET /api/changes?since=now HTTP/1.1\r
                Host: localhost\r
                Accept: text/event-stream\r
                Authorization: Bearer \(tokens[number])\r
                \r

                """
            },
            body
        )
    }

    private func fanOut(
        _ clients: StreamClients,
        at service: RunningServer,
        count: Int
    ) async throws -> (times: TimeMeasurement, bytes: Int) {
        var (times, bytes): ([Duration], Int) = ([], 0)
        for number in 0..<Self.fanOutCount {
            times.append(
                try await time(until: clients, marker: #""id":"all-\#(round)-\#(number)""#) {
                    try await put("news/all-\(round)-\(number)", at: service)
                }
            )
            bytes = clients.bytes / count
        }
        return (TimeMeasurement(times), bytes)
    }

    private func rawFanOut(bytes: Int, count: Int) async throws -> TimeMeasurement {
        try await FanOutServer.with { server in
            try await StreamClients.with(
                count,
                port: server.port,
                until: FanOutServer.greeting,
                request: { _ in FanOutServer.greeting }
            ) { clients in
                let orderer = try await StreamClients.connect(to: server.port)
                var times: [Duration] = []
                for number in 0..<Self.fanOutCount {
                    let marker = "<\(number)>\n"
                    let order = FanOutServer.order
                    let filling = String(repeating: "x", count: max(0, bytes - order.utf8.count - marker.utf8.count))
                    times.append(
                        try await time(until: clients, marker: marker) {
                            try await orderer.writeAndFlush(ByteBuffer(string: order + filling + marker))
                        }
                    )
                    // The server reads a line at a time.
                    try await Task.sleep(for: .milliseconds(100))
                }
                try await orderer.close()
                return TimeMeasurement(times)
            }
        }
    }

    private func listBesideWrites(at service: RunningServer) async throws -> (
        list: LoadMeasurement, writes: LoadMeasurement
    ) {
        try await wrk.run(
            .pacedLists,
            connections: Self.listConnections,
            beside: .pacedRecords,
            connections: Self.writeConnections,
            at: service.origin,
            seconds: seconds
        )
    }

    private func list(at service: RunningServer) async throws -> LoadMeasurement {
        try await wrk.run(.pacedLists, at: service.origin, connections: Self.listConnections, seconds: seconds)
    }

    // MARK: Steps

    /// How long it takes until all clients have a marker.
    private func time(
        until clients: StreamClients,
        marker: String,
        _ write: () async throws -> Void
    ) async throws -> Duration {
        clients.expect(marker)
        let start = ContinuousClock.now
        try await write()
        try await clients.all()
        return ContinuousClock.now - start
    }

    private func put(_ path: String, at service: RunningServer) async throws {
        var request = CurlRequest(url: "\(service.origin)/api/records/\(path)")
        request.method = .PUT
        request.headers = ["Authorization": "Bearer token-1", "Content-Type": "application/json"]
        request.body = .bytes(ByteBuffer(string: #"{"data":{"text":"A note of some words"}}"#))
        _ = try await Service.send(request)
    }
}
