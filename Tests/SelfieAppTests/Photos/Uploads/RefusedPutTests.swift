import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Puts that the store refuses", .timeLimit(.minutes(2)))
struct RefusedPutTests {
    @Test("A refusal in the middle of the body leaves no file open, and no row and no object")
    func refusedEarly() async throws {
        // No other test's photo is of this size.
        let photo = TestImage.png(bytes: 6_543_217)
        try await TestService.run(store: .s3, settings: ["AWS_SECRET_ACCESS_KEY": "wrong"]) { service in
            let token = try await service.makeToken()
            for _ in 0..<3 {
                let answer = try await service.upload(photo, token: token)
                #expect(answer.status == 503, "\(answer.text)")
            }
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
            #expect(service.objects.keys().isEmpty)
            try await poll("the spools are closed") { try Self.openSpools(bytes: photo.count) == 0 }
        }
    }

    /// How many spools of this size the process has open; those of other tests come and go.
    private static func openSpools(bytes: Int) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
            let path = "/proc/self/fd/\(descriptor)"
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
            guard target?.contains("/selfie-") == true else { return false }
            return (try? FileHandle(forReadingAtPath: path)?.seekToEnd()) == UInt64(bytes)
        }
    }
}
