import ConnectionTestSupport
import Foundation
import NIOCore
import SelfieWeb
import ServiceTestSupport
import TestSupport
import Testing

/// The promise is of an optimized build: `bin/soak release` looks at that.
@Suite("Texts that are slow to compare", .serialized, .timeLimit(.minutes(20)))
struct MarkSoakTests {
    /// For how long a request may hold an event loop.
    ///
    /// In a debug build, only what takes seconds shows.
    private static let maxTime: TimeAmount = {
        #if DEBUG
            .seconds(1)
        #else
            .milliseconds(20)
        #endif
    }()

    @Test(
        "No parameter, header or member of any call holds an event loop for more than 20 ms",
        arguments: MarkText.Rows.allCases
    )
    func everywhere(rows: MarkText.Rows) async throws {
        let count = try await Self.requestCount { Mark.everywhere(in: $0, MarkText(rows: rows)) }
        #expect(count > 6_000)
    }

    @Test("Nor do the largest bodies and queries with many names, numbers or brackets")
    func slow() async throws {
        let count = try await Self.requestCount { Mark.slow(in: $0) }
        #expect(count > 1_000)
    }

    @Test("Nor do texts as they are in a target, a method, the name of a header and a trailer")
    func raw() async throws {
        try await TestService.run(settings: SampleService.settings) { service in
            try await LoopMeter.run { meter in
                for rows in MarkText.Rows.allCases {
                    for (what, request) in Self.rawRequests(MarkText(rows: rows).raw(bytes: 14_000)) {
                        _ = try await meter.take()
                        try await RawConnection.open(port: service.port) { connection in
                            try await connection.send(request)
                            let answer = try #require(try await connection.readResponse(), "\(what)")
                            #expect(answer.status == 400, "\(what)")
                        }
                        let time = try await meter.take()
                        #expect(time <= Self.maxTime, "\(what)")
                    }
                }
            }
        }
    }

    @Test("Nor does a photo whose end is looked for among bytes that begin like one")
    func endlessPhoto() async throws {
        try await TestService.run(settings: SampleService.settings) { service in
            let token = try await service.makeToken()
            let photo = TestImage.jpeg.dropLast(2) + Data(repeating: 0xFF, count: 31_000_000)
            try await LoopMeter.run { meter in
                _ = try await meter.take()
                let answer = try await MarkClient.send(
                    "POST",
                    "\(service.origin)/api/upload_photo",
                    headers: [("Authorization", "Token \(token)"), ("Content-Type", TestMultipart.contentType)],
                    body: TestMultipart.body(image: photo, title: "Endless")
                )
                let time = try await meter.take()
                print("A photo without an end held an event loop for \(time.nanoseconds / 1_000) µs at most")
                #expect(answer.status == 415, "\(answer.text.prefix(200))")
                #expect(time <= Self.maxTime)
            }
        }
    }

    private static func rawRequests(_ marks: String) -> [(what: String, request: String)] {
        let trailed = """
            POST /api/signin HTTP/1.1\r
            Host: localhost\r
            Authorization: \(TestService.basic)\r
            Transfer-Encoding: chunked\r
            \r
            0\r
            X-Unknown: a\(marks)\r
            \r

            """
        return [
            ("the path", "GET /\(marks) HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            ("the query", "GET /?a=\(marks) HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            ("the method", "A\(marks) / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            ("the name of a header", "GET / HTTP/1.1\r\nHost: localhost\r\na\(marks): 1\r\n\r\n"),
            ("a trailer", trailed),
        ]
    }

    // MARK: Every call

    /// Sends requests to every call, anonymous and signed in.
    ///
    /// - Parameter marks: What is put into a valid request, each by itself.
    /// - Returns: How many requests that were.
    /// - Throws: What the connection or the database throws.
    private static func requestCount(_ marks: @Sendable (SampleRequest) -> [Mark]) async throws -> Int {
        try await TestService.runWithSchema(try SampleService.schema, settings: SampleService.settings) { service in
            try await LoopMeter.run { meter in try await requestCount(marks, service, meter) }
        }
    }

    private static func requestCount(
        _ marks: @Sendable (SampleRequest) -> [Mark],
        _ service: TestService,
        _ meter: LoopMeter
    ) async throws -> Int {
        let samples = try await SampleService(service)
        var (count, worst, worstCall) = (0, TimeAmount.zero, "")
        for endpoint in Routes.endpoints {
            for collection in SampleService.collections(of: endpoint) {
                let sample = try await samples.request(to: endpoint, in: collection)
                let call = "\(endpoint.method) \(endpoint.path), \(collection ?? "no collection")"
                let (control, _) = try await measure(sample, isSignedIn: true, service, meter)
                #expect(control.status < 400, "\(call): \(control.text.prefix(500))")
                for mark in marks(sample) {
                    var request = try await samples.request(to: endpoint, in: collection)
                    mark.put(&request)
                    for isSignedIn in request.isSentAnonymously ? [false, true] : [true] {
                        let what = "\(call), \(mark.what)\(isSignedIn ? "" : ", anonymous")"
                        let time = await send(request, isSignedIn: isSignedIn, what, service, meter)
                        count += 1
                        if time > worst { (worst, worstCall) = (time, what) }
                    }
                }
            }
        }
        print("\(count) requests held an event loop for \(worst.nanoseconds / 1_000) µs at most: \(worstCall)")
        return count
    }

    /// Sends a request, and expects an answer in time that is about what was sent.
    ///
    /// - Returns: For how long it held an event loop.
    private static func send(
        _ request: SampleRequest,
        isSignedIn: Bool,
        _ what: String,
        _ service: TestService,
        _ meter: LoopMeter
    ) async -> TimeAmount {
        do {
            let (answer, time) = try await measure(request, isSignedIn: isSignedIn, service, meter)
            #expect(time <= maxTime, "\(what)")
            #expect(answer.status < 500, "\(what)")
            // It was as large as it may be, and no larger.
            #expect(answer.status != 431 && (answer.status != 413 || answer.code != "request_too_large"), "\(what)")
            if isSignedIn, request.hasCredentials, answer.status == 401 {
                let refusals = ["api_credential_wrong", "token_expired", "token_invalid"]
                #expect(!refusals.contains(answer.code ?? ""), "\(what)")
            }
            return time
        } catch {
            Issue.record("\(what): there is no answer, but \(error)")
            return .zero
        }
    }

    private static func measure(
        _ request: SampleRequest,
        isSignedIn: Bool,
        _ service: TestService,
        _ meter: LoopMeter
    ) async throws -> (answer: HTTPAnswer, time: TimeAmount) {
        let body = request.body
        let headers = request.allHeaders(isSignedIn: isSignedIn, type: body?.type)
        _ = try await meter.take()
        let answer = try await MarkClient.send(
            request.method,
            service.origin + request.target,
            headers: headers,
            body: body?.bytes
        )
        return (answer, try await meter.take())
    }
}
