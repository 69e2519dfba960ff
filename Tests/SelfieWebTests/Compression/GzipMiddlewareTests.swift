import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import SelfieWeb

@Suite("Compression of large answers")
struct GzipMiddlewareTests {
    private static func answer(_ middleware: GzipMiddleware) async throws -> Response {
        let request = Request(
            head: HTTPRequest(
                method: .get,
                scheme: nil,
                authority: nil,
                path: "/",
                headerFields: [.acceptEncoding: "gzip"]
            ),
            body: RequestBody(buffer: ByteBuffer())
        )
        let channel = NIOAsyncTestingChannel()
        let context = ServiceRequestContext(
            source: ApplicationRequestContextSource(channel: channel, logger: Logger(label: "test"))
        )
        return try await middleware.handle(request, context: context) { _, _ in
            let body = ByteBuffer(repeating: UInt8(ascii: "1"), count: 100_000)
            return Response(status: .ok, headers: [.contentType: jsonContentType], body: ResponseBody(byteBuffer: body))
        }
    }

    @Test("Two are compressed at once, others are sent as they are, and a permit is free again after its answer")
    func twoAtOnce() async throws {
        let middleware = GzipMiddleware()
        var answers: [Response] = []
        for _ in 0..<3 { answers.append(try await Self.answer(middleware)) }
        #expect(answers.map { $0.headers[.contentEncoding] } == ["gzip", "gzip", nil])
        #expect(answers[2].body.contentLength == 100_000)
        answers.removeFirst()
        let next = try await Self.answer(middleware)
        #expect(next.headers[.contentEncoding] == "gzip")
        withExtendedLifetime(answers) {}
    }
}
