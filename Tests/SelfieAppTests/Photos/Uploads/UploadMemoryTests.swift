import Budgets
import ConnectionTestSupport
import Foundation
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import ObjectStore
@testable import SelfieApp
@testable import SelfieWeb

@Suite("The memory that uploads share", .timeLimit(.minutes(2)))
struct UploadMemoryTests {
    @Test(
        "Uploads share it within its limit, continue in files without it, and give it back",
        arguments: TestStore.allCases
    )
    func shared(store: TestStore) async throws {
        // Beside the first block, which each has anyway.
        let budget = SpoolBudget(memory: PermitLimits(total: 1_835_008))
        try await TestService.run(store: store, adjust: { $0.permits.uploads = budget }) { service in
            let token = try await service.makeToken()
            let images = (0..<3).map { TestImage.png(bytes: 1_900_000, seed: $0) }
            let (sent, send) = AsyncStream.makeStream(of: Void.self)
            let (rest, goOn) = AsyncStream.makeStream(of: Void.self)
            let answers = try await withThrowingTaskGroup(of: (Int, HTTPAnswer?).self) { uploads in
                var arrivals = sent.makeAsyncIterator()
                for (number, image) in images.enumerated() {
                    uploads.addTask {
                        let answer = try await Self.upload(image, to: service, token: token) {
                            send.yield()
                            _ = await rest.first { _ in true }
                        }
                        return (number, answer)
                    }
                    await arrivals.next()
                    // Of 1.8 MB the first 256 KiB are an upload's own, and seven blocks are beyond it.
                    if number == 0 { try await poll("the first has all") { budget.memoryBytesUsed == 1_835_008 } }
                }
                #expect(budget.memoryBytesUsed <= 1_835_008)
                goOn.finish()
                return try await uploads.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for (number, image) in images.enumerated() {
                let answer = try #require(answers[number])
                #expect(answer.status == 200, "\(answer.text)")
                let isSame = service.objects.bytes(key: try #require(answer.json["random_id"] as? String)) == image
                #expect(isSame)
            }
            try await poll("all is given back") { budget.memoryBytesUsed == 0 }
        }
    }

    @Test("A client that breaks off gives it back")
    func brokenOff() async throws {
        let budget = SpoolBudget(memory: PermitLimits(total: 1_835_008))
        try await TestService.run(adjust: { $0.permits.uploads = budget }) { service in
            let token = try await service.makeToken()
            await #expect(throws: NotInTime.self) {
                _ = try await Self.upload(TestImage.png(bytes: 1_900_000), to: service, token: token) {
                    try await poll("it has some") { budget.memoryBytesUsed > 0 }
                    throw NotInTime(what: "the rest of the upload")
                }
            }
            try await poll("all is given back") { budget.memoryBytesUsed == 0 }
            #expect(service.objects.keys().isEmpty)
        }
    }

    /// Uploads a photo, all but its last bytes at first.
    private static func upload(
        _ image: Data,
        to service: TestService,
        token: String,
        beforeEnd: @Sendable () async throws -> Void
    ) async throws -> HTTPAnswer? {
        let body = TestMultipart.body(image: image, title: "Shared")
        return try await RawConnection.open(port: service.port) { connection in
            try await connection.send(
                """
                POST /api/upload_photo HTTP/1.1\r
                Host: 127.0.0.1\r
                Authorization: Token token=\(token)\r
                Content-Type: multipart/form-data; boundary=\(TestMultipart.boundary)\r
                Content-Length: \(body.count)\r
                Connection: close\r
                \r

                """
            )
            try await connection.send(body.prefix(1_850_000))
            try await beforeEnd()
            try await connection.send(body.dropFirst(1_850_000))
            return try await connection.readResponse()
        }
    }
}
