import Foundation
import Testing

@testable import bench

@Suite struct ReportTests {
    @Test(arguments: [([3], 3), ([1, 9, 2], 2), ([4, 1, 9, 2], 3), ([5, 5, 1, 9, 0], 5)] as [([Double], Double)])
    func theMedianIsTheMiddleOfWhatIsSorted(_ values: [Double], _ median: Double) {
        #expect(values.median == median)
    }

    @Test func nothingHasNoMedian() {
        #expect([Double]().median == nil)
    }

    @Test func aRatioIsTheMedianOfEachRoundsOwn() throws {
        let results = try Self.results(rates: [(100, 200), (300, 300), (90, 100)])
        let ratio = try #require(results.ratios.first)
        #expect(ratio.values == [0.5, 1, 0.9])
        #expect(ratio.median == 0.9)
    }

    @Test func failuresOfEveryMeasurementCount() throws {
        let results = try Self.results(rates: [(100, 200)], bad: 1)
        // The five lists, the two of operations, the three of records, the eight of changes and the six of photos of the
        // round, four of the sign-ins, the long list.
        #expect(results.failureCount == 29)
    }

    @Test func theTableHasEveryFigureAndTheFileNamesUnits() throws {
        let results = try Self.results(rates: [(5000, 10_000), (6000, 10_000)])
        let report = Report(results)
        #expect(
            report.markdown.contains(
                "| List to pgbench, requests/s, 16 connections | 0.55 | 0.50 to 0.60 | 0.50 or more |"
            )
        )
        #expect(report.markdown.contains("| List, 16 connections: requests/s | 5,500 | 5,000 to 6,000 |"))
        let file = String(decoding: try report.json(), as: UTF8.self)
        for figure in results.figures + results.ratios { #expect(file.contains("\"\(figure.key)\"")) }
        #expect(file.contains("\"listAt16RequestsPerSecond\" : 5500"))
    }

    @Test func memoryIsReadFromTheProcessStatus() throws {
        let memory = try Memory(status: "Name:\tselfie\nVmHWM:\t   40960 kB\nVmRSS:\t   20480 kB\n")
        #expect(memory.residentMebibytes == 20)
        #expect(memory.peakMebibytes == 40)
        #expect(throws: BenchError.self) { try Memory(status: "Name:\tselfie\nState:\tZ (zombie)\n") }
    }

    @Test func whatElseTheMachineDoesIsTheShareOfItsTimeThatIsNotIdle() throws {
        let before = try ProcessorTime(stat: "cpu  100 0 50 1000 20 0 5 5 0 0\ncpu0 1 2 3\n")
        let after = try ProcessorTime(stat: "cpu  130 0 60 1150 30 0 5 5 9 9\n")
        #expect(after.busyPercent(since: before) == 20)
        #expect(before.busyPercent(since: before) == 0)
        #expect(throws: BenchError.self) { try ProcessorTime(stat: "cpu  100 0 50 1000\n") }
        #expect(throws: BenchError.self) { try ProcessorTime(stat: "intr 1 2 3\n") }
    }

    private static func results(rates: [(list: Double, pgbench: Double)], bad: Int = 0) throws -> Results {
        func load(_ rate: Double) -> LoadFigures {
            LoadFigures(
                requestsPerSecond: rate,
                p50Milliseconds: 1,
                p99Milliseconds: 3,
                requestCount: 100,
                badAnswerCount: bad,
                socketErrorCount: 0
            )
        }
        return Results(
            date: Date(timeIntervalSince1970: 0),
            machine: Machine(),
            versions: Versions(selfieCommit: "", swift: "", postgreSQL: "15", wrk: ""),
            settings: .init(rounds: rates.count, secondsPerMeasurement: 5, othersBusyPercent: 3),
            rounds: rates.map { list, pgbench in
                Results.Round(
                    listAt16: load(list),
                    listAt256: load(list),
                    pgbenchAt16: DatabaseFigures(
                        transactionsPerSecond: pgbench,
                        averageMilliseconds: 1,
                        transactionCount: 100
                    ),
                    emptyListAt16: load(list),
                    welcomeAt16: load(3 * list),
                    unchangedLongListAt16: load(list),
                    operations: .init(
                        besideProbes: load(0.9 * list),
                        probes: load(1_000)
                    ),
                    records: .init(
                        creations: load(0.3 * list),
                        creationsByPgbench: DatabaseFigures(
                            transactionsPerSecond: 0.5 * pgbench,
                            averageMilliseconds: 1,
                            transactionCount: 100
                        ),
                        pageOfFew: load(list),
                        pageOfMany: load(0.9 * list)
                    ),
                    changes: .init(
                        creations: load(list),
                        silentCreations: load(list),
                        events: TimeFigures([.milliseconds(4)]),
                        notifications: TimeFigures([.milliseconds(2)]),
                        kibibytesPerIdleConnection: 20,
                        kibibytesPerStream: 25,
                        fanOut: TimeFigures([.milliseconds(300)]),
                        rawFanOut: TimeFigures([.milliseconds(200)]),
                        listAlone: load(list),
                        listBesideWrites: load(list),
                        listBesideFewerStreams: load(list),
                        listBesideBoth: load(list),
                        writes: load(300),
                        writesBesideStreams: load(300)
                    ),
                    photos: .init(
                        fromDisk: load(60),
                        byNginx: load(100),
                        proxied: load(8),
                        presigned: load(10),
                        uploads: TransferFigures(bytesPerSecond: 2e8, count: 10, failureCount: bad),
                        puts: TransferFigures(bytesPerSecond: 25e7, count: 10, failureCount: bad)
                    )
                )
            },
            signIns: .init(alone: load(3), besideList: load(2), listAlone: load(100), listBesideSignIns: load(90)),
            longList: load(10),
            memory: .init(idleMebibytes: 30, underListLoadMebibytes: 60, afterwardsMebibytes: 50)
        )
    }
}
