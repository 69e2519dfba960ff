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
        let results = Self.results(rates: [(100, 200), (300, 300), (90, 100)])
        let ratio = try #require(results.ratios.first { $0.key == "listToPgbenchAt16Ratio" })
        #expect(ratio.values == [0.5, 1, 0.9])
        #expect(ratio.median == 0.9)
    }

    @Test func aRowWithAGoalIsDividedByNothing() throws {
        var results = Self.results(rates: [])
        results.add("kibibytesPerStream", "Memory of an idle stream: KiB", 28)
        let ratios = results.ratios
        #expect(ratios.first { $0.key == "kibibytesPerStream" }?.values == [28])
        #expect(ratios.first { $0.key == "streamToIdleMemoryRatio" }?.values == [])
    }

    @Test func aRatioNeedsBothRowsOfEachRound() throws {
        var results = Self.results(rates: [(100, 200)])
        results.add("listAt16", "List, 16 connections", Self.load(100))
        let ratio = try #require(results.ratios.first { $0.key == "listToPgbenchAt16Ratio" })
        #expect(ratio.values.isEmpty)
        let report = Report(results)
        let line = "| List to pgbench, requests/s, 16 connections | not measured | | 0.50 or more |"
        #expect(report.markdown.contains(line))
        #expect(!String(decoding: try report.json(), as: UTF8.self).contains("listToPgbenchAt16Ratio"))
    }

    @Test func failuresOfEveryMeasurementAndRoundCount() throws {
        var results = Self.results(rates: [(100, 200)])
        #expect(results.failures.isEmpty)
        for failureCount in [1, 0, 2] {
            results.add("probes", "Probes", Self.load(1_000, failureCount: failureCount))
            results.add("upload", "Uploads", TransferMeasurement(bytesPerSecond: 2e8, failureCount: 2 * failureCount))
        }
        #expect(results.failures == ["probes": 3, "upload": 6])
        #expect(results.failureCount == 9)
        let report = Report(results)
        #expect(report.markdown.contains("| Answers but 2xx, broken connections | 9 | |"))
        #expect(String(decoding: try report.json(), as: UTF8.self).contains("\"failureCount\" : 9"))
    }

    @Test func theTableHasEveryRowAndTheFileNamesUnits() throws {
        var results = Self.results(rates: [(5000, 10_000), (6000, 10_000)])
        results.add("event", "Event", TimeMeasurement([.milliseconds(4), .milliseconds(5), .milliseconds(3)]))
        results.add("upload", "Uploads", TransferMeasurement(bytesPerSecond: 258e6, failureCount: 0))
        let report = Report(results)
        for line in [
            "| List to pgbench, requests/s, 16 connections | 0.55 | 0.50 to 0.60 | 0.50 or more |",
            "| List, 16 connections: requests/s | 5,500 | 5,000 to 6,000 |",
            "| pgbench, 16 connections: average, ms | 1.50 | 1.50 to 1.50 |",
            "| Event: p50, ms | 4 |  |",
            "| Event: p99, ms | 5 |  |",
            "| Uploads: MB/s | 258 |  |",
        ] {
            #expect(report.markdown.contains(line))
        }
        let file = String(decoding: try report.json(), as: UTF8.self)
        for row in results.rows { #expect(file.contains("\"\(row.key)\"")) }
        #expect(file.contains("\"listAt16RequestsPerSecond\" : 5500"))
        #expect(file.contains("\"uploadMegabytesPerSecond\" : 258"))
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

    private static func results(rates: [(list: Double, pgbench: Double)]) -> Results {
        var results = Results(
            date: Date(timeIntervalSince1970: 0),
            machine: Machine(),
            versions: Versions(selfieCommit: "", swift: "", postgreSQL: "15", wrk: ""),
            settings: .init(rounds: rates.count, secondsPerMeasurement: 5, othersBusyPercent: 3)
        )
        for (list, pgbench) in rates {
            results.add("listAt16", "List, 16 connections", load(list))
            results.add(
                "pgbenchAt16",
                "pgbench, 16 connections",
                DatabaseMeasurement(transactionsPerSecond: pgbench, averageMilliseconds: 1.5)
            )
        }
        return results
    }

    private static func load(_ rate: Double, failureCount: Int = 0) -> LoadMeasurement {
        LoadMeasurement(requestsPerSecond: rate, p50Milliseconds: 1, p99Milliseconds: 3, failureCount: failureCount)
    }
}
