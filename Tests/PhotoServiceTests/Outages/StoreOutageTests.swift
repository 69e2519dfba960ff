import Foundation
import Postgres
import S3TestSupport
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

/// With deadlines that are over at once; that they keep to 5 s as they are in use, the tests that need time tell.
@Suite("The object store goes away", .timeLimit(.minutes(3)))
struct StoreOutageTests {
    @Test("Uploads are refused and leave no row, deletes are done later, lists work", arguments: StoreOutage.allCases)
    func bucket(outage: StoreOutage) async throws {
        try await TestService.run(
            store: .ownS3,
            adjust: {
                $0.sweepInterval = .milliseconds(50)
                $0.storeDeadlines = .short
            }
        ) { service in
            let token = try await service.makeToken()
            let kept = try await service.uploadUntilTaken(token: token)
            let deleted = try await service.uploadUntilTaken(token: token)
            try await outage.expectOutlived(by: service, token: token, kept: kept, deleted: deleted)
        }
    }

    @Test("A disk that takes no more files refuses uploads and leaves nothing, and works again afterwards")
    func disk() async throws {
        try await TestService.run(adjust: { $0.sweepInterval = .milliseconds(200) }) { service in
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
    /// Uploads again and again what a busy machine has not stored within deadlines as short as these.
    ///
    /// - Returns: The photo's id.
    fileprivate func uploadUntilTaken(token: String) async throws -> String {
        var randomID: String?
        try await poll("uploads work") {
            randomID = try await upload(token: token).json["random_id"] as? String
            return randomID != nil
        }
        return try #require(randomID)
    }
}
