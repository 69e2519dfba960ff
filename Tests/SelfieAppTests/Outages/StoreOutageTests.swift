import ConnectionTestSupport
import Foundation
import Postgres
import S3
import S3TestSupport
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

/// With a time that passes only while the store is away.
///
/// `SoakTests` check that each call is answered within 5 s.
@Suite("The object store is unreachable", .timeLimit(.minutes(3)))
struct StoreOutageTests {
    @Test("Uploads are refused and leave no row, deletes are done later, lists work", arguments: StoreOutage.allCases)
    func bucket(outage: StoreOutage) async throws {
        let time = ManualTime()
        try await TestService.run(
            store: .ownS3,
            adjust: {
                $0.sweepInterval = .milliseconds(50)
                $0.bucket.clock = time
                $0.bucket.retries = S3RetryPolicy(random: { $0.lowerBound })
            }
        ) { service in
            let token = try await service.makeToken()
            let kept = try await service.uploadedID(token: token)
            let deleted = try await service.uploadedID(token: token)
            try await outage.expectOutlived(by: service, token: token, kept: kept, deleted: deleted, time: time)
        }
    }

    @Test("A disk that takes no more files refuses uploads and leaves nothing, and works again afterwards")
    func disk() async throws {
        try await TestService.run(adjust: { $0.sweepInterval = .milliseconds(20) }) { service in
            guard case .disk(let folder) = service.objects else { throw NotInTime(what: "a disk") }
            let token = try await service.makeToken()
            let incoming = folder.appending(path: ".incoming")
            try FileManager.default.removeItem(at: incoming)
            try Data().write(to: incoming)

            let answer = try await service.upload(token: token)
            #expect(answer.status == 503, "\(answer.text)")
            #expect(answer.headers["retry-after"] == "5")
            #expect(!answer.text.contains("incoming"))
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
            #expect(try await service.list(token: token).text == "[]")

            try FileManager.default.removeItem(at: incoming)
            #expect(service.objects.keys().isEmpty)
            try FileManager.default.createDirectory(at: incoming, withIntermediateDirectories: false)
            #expect(try await service.upload(token: token).status == 200)
        }
    }
}

extension TestService {
    /// Uploads a photo, and returns its id.
    fileprivate func uploadedID(token: String) async throws -> String {
        let answer = try await upload(token: token)
        return try #require(answer.json["random_id"] as? String, "\(answer.text)")
    }
}
