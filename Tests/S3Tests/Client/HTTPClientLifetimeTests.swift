import AsyncHTTPClient
import S3
import Synchronization
import Testing

@Suite("The lifetime of the HTTP client")
struct HTTPClientLifetimeTests {
    private struct Failure: Error {}

    @Test(
        "It is shut down, whether the body returns or throws, and the body's error comes out",
        arguments: [false, true]
    )
    func shutDown(fails: Bool) async throws {
        let used = Mutex<HTTPClient?>(nil)
        func run() async throws -> Int {
            try await S3Client.withHTTPClient { httpClient in
                used.withLock { $0 = httpClient }
                if fails { throw Failure() }
                return 7
            }
        }
        if fails {
            await #expect(throws: Failure.self) { try await run() }
        } else {
            #expect(try await run() == 7)
        }
        let httpClient = try #require(used.withLock { $0 })
        await #expect(throws: HTTPClientError.alreadyShutdown) { try await httpClient.shutdown() }
    }

    @Test("A body that shuts it down itself still gives its own error")
    func twice() async throws {
        await #expect(throws: Failure.self) {
            try await S3Client.withHTTPClient { httpClient in
                try await httpClient.shutdown()
                throw Failure()
            }
        }
    }
}
