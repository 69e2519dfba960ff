import ConnectionTestSupport
import Foundation
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("Slow readers of changes", .timeLimit(.minutes(6)))
struct SlowReaderSoakTests {
    private static let readerCount = 200
    private static let seconds = 18
    private static let settlingSeconds = 5
    private static let changesPerSecond = 300
    /// How many changes go together.
    private static let batch = 30

    @Test(
        "200 readers that take a byte a second beside 300 changes a second: others are as quick, and all complete later"
    )
    func slow() async throws {
        try await ServedSelfie.run(settings: ["RATE_LIMITS": "off"]) { served in
            let service = served.service
            try await service.apply(try TestService.exampleSchema)
            let writer = try await service.addMember("writer")
            var members: [TestMember] = []
            for number in 0..<Self.readerCount { members.append(try await service.addMember("reader\(number)")) }
            let all = members
            let start = try await service.changes("?since=now", as: writer).cursor
            // What comes first makes statements and opens connections.
            _ = try await write(2, from: 0, service, writer)
            let alone = try await write(Self.seconds, from: 2, service, writer)
            let memory = try ProcessMemory(of: served.process.processID).resident
            let readers = try SlowReaders(Self.readerCount, port: service.port) { number in
                """
                GET /api/changes?since=\(start) HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\
                Authorization: Bearer \(all[number].token)\r\n\r\n
                """
            }
            // Until they take no more, each is sent what was there before. After 25 seconds they are dropped.
            let first = 2 + Self.seconds
            _ = try await write(Self.settlingSeconds, from: first, service, writer)
            let beside = try await write(Self.seconds, from: first + Self.settlingSeconds, service, writer)
            let growth = try ProcessMemory(of: served.process.processID).peak - memory
            let taken = await readers.close()
            print("p99 of a batch: \(alone) alone, \(beside) beside; \(growth) KiB more")
            #expect(growth <= 64 << 10)
            #expect(beside < max(alone * 2, .milliseconds(100)))
            let expected = (first + Self.settlingSeconds + Self.seconds) * Self.changesPerSecond
            // All were sent something, and a tenth resumes from where it was: a debug build takes its time for each.
            for (number, text) in taken.enumerated() {
                let events = text.matches(of: /id: (\S+)\ndata: \S*?"id":"(n\d+)".*\n\n/)
                let last = try #require(events.last?.output.1)
                guard number % 10 == 0 else { continue }
                try await EventClient.open(service, as: all[number], headers: ["Last-Event-ID: \(last)"]) { client in
                    let seen = try await client.summaries(until: "synced").dropLast()
                    let known = events.map { "created news \($0.output.2)" }
                    #expect(seen.count + known.count == expected && Set(seen + known).count == expected)
                }
            }
        }
    }

    /// Writes for some seconds.
    ///
    /// - Returns: The p99 of the time until a batch is answered and a reader has got it.
    private func write(
        _ seconds: Int,
        from first: Int,
        _ service: TestService,
        _ writer: TestMember
    ) async throws -> Duration {
        try await EventClient.open(service, as: writer, "?since=now&collections=news") { client in
            _ = try await client.summaries(until: "synced")
            var times: [Duration] = []
            let (count, begun) = (Self.changesPerSecond / Self.batch, ContinuousClock.now)
            for step in 0..<seconds * count {
                try await Task.sleep(until: begun + .milliseconds(1000 / count * step))
                let start = ContinuousClock.now
                let number = (first * count + step) * Self.batch
                let texts = String(repeating: "x", count: 500)
                let records = (number..<number + Self.batch).map { number in
                    #"{"id":"n\#(number)","data":{"title":"t","text":"\#(texts)"}}"#
                }
                let answer = try await service.call(
                    "POST",
                    "/api/records/news",
                    as: writer,
                    "[\(records.joined(separator: ","))]"
                )
                #expect(answer.status == 200, "\(answer.text)")
                _ = try await client.summaries(until: "created news n\(number + Self.batch - 1)")
                times.append(ContinuousClock.now - start)
            }
            return times.sorted()[times.count * 99 / 100]
        }
    }
}
