import Testing

@testable import bench

@Suite struct PgbenchOutputTests {
    /// As pgbench 15 printed it.
    private static let output = """
        pgbench (15.20 (Debian 15.20-0+deb12u1))
        transaction type: list.sql
        scaling factor: 1
        query mode: prepared
        number of clients: 16
        number of threads: 2
        maximum number of tries: 1
        duration: 5 s
        number of transactions actually processed: 51234
        number of failed transactions: 0 (0.000%)
        latency average = 1.561 ms
        initial connection time = 17.120 ms
        tps = 10246.123456 (without initial connection time)

        """

    @Test func aRunIsReadInMilliseconds() throws {
        #expect(
            try PgbenchOutput.measurement(Self.output)
                == DatabaseMeasurement(transactionsPerSecond: 10246.123456, averageMilliseconds: 1.561)
        )
    }

    @Test func ofTwoRatesTheOneWithoutConnectingCounts() throws {
        let output = """
            number of transactions actually processed: 51234/51234
            latency average = 1.561 ms
            tps = 9000.5 (including connections establishing)
            tps = 10000.5 (excluding connections establishing)
            """
        #expect(try PgbenchOutput.measurement(output).transactionsPerSecond == 10000.5)
    }

    @Test(arguments: [
        ("processed: 51234", "processed: 0"),
        ("processed: 51234", "processed:"),
        ("processed: 51234", "processed: many"),
        ("transactions: 0 (0.000%)", "transactions: 3 (0.006%)"),
        ("transactions: 0 (0.000%)", "transactions: x"),
        ("tps = 10246.123456", "tps = fast"),
        ("tps = 10246.123456", "tps = nan"),
        ("tps = 10246.123456", "tps = 0"),
        ("tps = 10246.123456 (without initial connection time)", ""),
        ("latency average = 1.561 ms", "latency average = 1.561"),
        ("latency average = 1.561 ms", "latency average = 1.561 s"),
        ("latency average = 1.561 ms\n", ""),
    ])
    func whatIsMalformedIsNeverTakenForAValue(_ original: String, _ broken: String) throws {
        let output = Self.output.replacing(original, with: broken)
        try #require(output != Self.output)
        #expect(throws: BenchError.self) { try PgbenchOutput.measurement(output) }
    }

    @Test func theScriptHasTheServicesStatementWithTheTokensDigest() {
        let script = Pgbench.Load.list.script
        #expect(script.hasPrefix("\\set n random(1, 1000)\n"))
        #expect(script.contains("token_digest = sha256(convert_to('token-' || :n, 'UTF8'))"))
        #expect(!script.contains("$"))
        #expect(script.hasSuffix(";\n"))
    }
}
