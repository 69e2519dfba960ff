import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie serve, after SIGTERM, in real time", .timeLimit(.minutes(2)))
struct ShutdownSoakTests {
    /// How long running requests may take after SIGTERM.
    private static let graceSeconds = 25.0

    @Test("Idle, it exits within 5 s, also with a connection that is kept open without a request")
    func idle() async throws {
        try await ServedSelfie.run { served async throws in
            try await RawConnection.open(port: served.service.port) { connection in
                try await connection.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                #expect(try await connection.readResponse()?.status == 200)
                let start = ContinuousClock.now
                served.process.signal(SIGTERM)
                #expect(try await served.process.waitForExit() == 0)
                #expect(ContinuousClock.now - start < .seconds(5))
            }
        }
    }

    @Test("A request that never ends is cut when the time is over, and the status is still 0")
    func endlessUpload() async throws {
        try await ServedSelfie.run { served async throws in
            let token = try await served.service.makeToken()
            let body = TestMultipart.body(image: TestImage.png(bytes: 1_000_000), title: "endless")
            try await RawConnection.open(port: served.service.port) { connection in
                try await Self.begin(body, token: token, on: &connection)
                let start = ContinuousClock.now
                served.process.signal(SIGTERM)
                // Steady enough not to be dropped for its slowness.
                var offset = 1000
                while offset + 1000 < body.count, (try? await connection.send(body[offset..<(offset + 1000)])) != nil {
                    offset += 1000
                    try await Task.sleep(for: .milliseconds(100))
                    if ContinuousClock.now - start > .seconds(Self.graceSeconds + 15) { break }
                }
                #expect(try await served.process.waitForExit() == 0)
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                #expect(seconds > Self.graceSeconds - 1 && seconds < Self.graceSeconds + 5)
            }
            #expect(try await served.service.count("SELECT count(*) FROM photos") == 0)
            #expect(served.service.objects.keys().isEmpty)
        }
    }

    /// Begins an upload and waits until the server reads it, which it says by asking for the body.
    private static func begin(_ body: Data, token: String, on connection: inout RawConnection) async throws {
        try await connection.sendUploadHead(token: token, "Content-Length: \(body.count)", "Expect: 100-continue")
        #expect(try await connection.readResponse()?.status == 100)
        try await connection.send(body[..<1000])
    }
}
