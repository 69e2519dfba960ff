import Testing

@testable import bench

@Suite struct WrkOutputTests {
    /// As wrk 4.1.0 printed it, the spaces at the lines' ends too.
    private static let fast = """
        Running 5s test @ http://127.0.0.1:3999
          1 threads and 16 connections
          Thread Stats   Avg      Stdev     Max   +/- Stdev
            Latency     3.05ms    1.20ms  25.11ms   75.00%
            Req/Sec     5.30k   400.00     6.10k    70.00%
          Latency Distribution
             50%  870.00us
             75%    3.41ms
             90%    4.55ms
             99%    7.02ms
          26451 requests in 5.00s, 90.11MB read
        Requests/sec:   5288.11
        Transfer/sec:     18.02MB

        """

    private static let slow = """
        Running 5s test @ http://127.0.0.1:40791/api/signin
          1 threads and 8 connections
          Thread Stats   Avg      Stdev     Max   +/- Stdev
            Latency     1.67s   669.46ms   2.50s    75.00%
            Req/Sec     3.50      1.10     5.00     56.25%
          Latency Distribution
             50%    2.06s\u{20}
             75%    2.07s\u{20}
             90%    2.31s\u{20}
             99%    2.50s\u{20}
          16 requests in 5.02s, 6.48KB read
          Socket errors: connect 1, read 2, write 0, timeout 4
          Non-2xx or 3xx responses: 12
        Requests/sec:      3.19
        Transfer/sec:      1.29KB

        """

    private static let idle = """
        Running 1s test @ http://127.0.0.1:42459/api/signin
          1 threads and 8 connections
          Thread Stats   Avg      Stdev     Max   +/- Stdev
            Latency     0.00us    0.00us   0.00us    -nan%
            Req/Sec     0.00      0.00     0.00      -nan%
          Latency Distribution
             50%    0.00us
             75%    0.00us
             90%    0.00us
             99%    0.00us
          0 requests in 1.02s, 0.00B read
        Requests/sec:      0.00
        Transfer/sec:       0.00B

        """

    @Test func aRunWithoutFailuresIsReadInMilliseconds() throws {
        let measurement = try WrkOutput.measurement(Self.fast)
        #expect(measurement.requestsPerSecond == 5288.11)
        #expect(abs(measurement.p50Milliseconds - 0.87) < 1e-9)
        #expect(measurement.p99Milliseconds == 7.02)
        #expect(measurement.failureCount == 0)
    }

    @Test func failuresAreCountedAndSecondsRead() throws {
        let measurement = try WrkOutput.measurement(Self.slow)
        #expect(measurement.p50Milliseconds == 2060)
        #expect(measurement.p99Milliseconds == 2500)
        // Twelve answers, and seven connections.
        #expect(measurement.failureCount == 19)
    }

    @Test func aRunWithoutAnyAnswerIsAFailure() {
        #expect(throws: BenchError.unreadable(value: "count of requests", output: Self.idle)) {
            try WrkOutput.measurement(Self.idle)
        }
    }

    @Test(arguments: [
        ("Requests/sec:   5288.11", "Requests/sec:"),
        ("Requests/sec:   5288.11", "Requests/sec:   many"),
        ("     50%  870.00us\n", ""),
        ("     99%    7.02ms", "     99%    7.02"),
        ("     99%    7.02ms", "     99%    7.0.2ms"),
        ("     99%    7.02ms", "     99%    -nan"),
        ("26451 requests in", "x requests in"),
        ("  26451 requests in 5.00s, 90.11MB read\n", ""),
        ("Transfer/sec:", "Non-2xx or 3xx responses: none\nTransfer/sec:"),
        ("Transfer/sec:", "Socket errors: connect 1, read 2\nTransfer/sec:"),
        ("Transfer/sec:", "Socket errors: connect 1, read 2, write 0, timeout x\nTransfer/sec:"),
        ("Transfer/sec:", "Socket errors: connect 1, read 2, write 0, broken 1\nTransfer/sec:"),
    ])
    func whatIsMalformedIsNeverTakenForAValue(_ original: String, _ broken: String) throws {
        let output = Self.fast.replacing(original, with: broken)
        try #require(output != Self.fast)
        #expect(throws: BenchError.self) { try WrkOutput.measurement(output) }
    }

    @Test func everyUnitIsUnderstood() {
        #expect(WrkOutput.milliseconds("250.00us") == 0.25)
        #expect(WrkOutput.milliseconds("250.00ms") == 250)
        #expect(WrkOutput.milliseconds("2.50s") == 2500)
        #expect(WrkOutput.milliseconds("1.50m") == 90_000)
        #expect(WrkOutput.milliseconds("1.00h") == 3_600_000)
        #expect(WrkOutput.count("985.32") == 985.32)
        #expect(WrkOutput.count("5.30k") == 5300)
        #expect(WrkOutput.count("1.25M") == 1_250_000)
    }

    @Test(arguments: ["", "ms", "1.5", "1.5ns", "-1ms", "1,5ms", "nanms", "infs", "0x1ms", "1.5 ms"])
    func whatIsNoDurationIsNone(_ text: String) {
        #expect(WrkOutput.milliseconds(text[...]) == nil)
    }

    @Test func everyPartOfAnOutputIsRefusedOrReadAsTheWhole() throws {
        let whole = try WrkOutput.measurement(Self.fast)
        for length in 0..<Self.fast.count {
            guard let measurement = try? WrkOutput.measurement(String(Self.fast.prefix(length))) else { continue }
            // Only the rate, near the end, may have lost digits.
            #expect(measurement.p50Milliseconds == whole.p50Milliseconds)
            #expect(measurement.p99Milliseconds == whole.p99Milliseconds)
        }
    }
}
