import Curl
import NIOCore
import NIOHTTP1
import S3
import TestSupport
import Testing

@Suite("Bodies at 10 KiB a second", .timeLimit(.minutes(5)))
struct SlowBodySoakTests {
    @Test("They take longer than any allowed silence, and are never ended, in either direction")
    func bothDirections() async throws {
        let byteCount = 300 * 1_024
        let peer = try SlowPeer()
        let usual = S3Deadlines()
        var deadlines = CurlDeadlines(end: .now + .seconds(240))
        (deadlines.connect, deadlines.silence, deadlines.silenceInBody) = (usual.connect, usual.silence, usual.silence)
        var request = CurlRequest(url: "http://127.0.0.1:\(peer.port)/")
        request.method = .PUT
        request.body = .bytes(ByteBuffer(repeating: 0x61, count: byteCount))
        let limits = deadlines
        let sent = request
        async let served: Void = Task(executorPreference: DedicatedThreads()) { peer.serve(byteCount: byteCount) }.value
        let start = ContinuousClock.now
        let received = try await CurlClient().perform(sent, deadlines: limits) { response in
            try await response.body.collect(upTo: byteCount).readableBytes
        }
        #expect(received == byteCount)
        #expect(start.duration(to: .now) > .seconds(50))
        await served
    }
}
