import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

@Suite("The object store goes away, in real time", .timeLimit(.minutes(3)))
struct StoreOutageSoakTests {
    enum Outage: CaseIterable {
        case killed, halted

        func begin(_ server: RcloneServer) async throws {
            switch self {
            case .killed: server.kill()
            case .halted: try await server.suspend()
            }
        }

        func end(_ server: RcloneServer) async throws {
            switch self {
            case .killed: try await server.restart()
            case .halted: server.resume()
            }
        }
    }

    @Test(
        "Uploads are refused within 5 s and leave no row, deletes are done later, lists work",
        arguments: Outage.allCases
    )
    func bucket(outage: Outage) async throws {
        try await TestService.run(store: .ownS3, adjust: { $0.sweepInterval = .milliseconds(200) }) { service in
            guard case .s3(let server, _) = service.objects else { throw NotInTime(what: "a server of its own") }
            let token = try await service.makeToken()
            let kept = try #require(try await service.upload(token: token).json["random_id"] as? String)
            let deleted = try #require(try await service.upload(token: token).json["random_id"] as? String)

            try await outage.begin(server)
            for image in [TestImage.jpeg, TestImage.png(bytes: 3 << 20)] {
                let start = ContinuousClock.now
                let answer = try await service.upload(image, token: token)
                #expect(answer.status == 503, "\(answer.text)")
                #expect(answer.headers["retry-after"] == "5")
                #expect(answer.message != nil)
                #expect(ContinuousClock.now - start < outageAnswerMax)
                #expect(try await service.count("SELECT count(*) FROM photos") == 2)
            }
            #expect(try await service.list(token: token).jsonArray?.count == 2)
            let start = ContinuousClock.now
            #expect(try await service.delete(deleted, token: token).message == "Image deleted")
            #expect(ContinuousClock.now - start < outageAnswerMax)
            #expect(try await service.list(token: token).jsonArray?.count == 1)
            #expect(service.objects.keys().contains(deleted))

            try await outage.end(server)
            try await poll("uploads work again", within: .seconds(5)) {
                try await service.upload(token: token).status == 200
            }
            try await poll("objects and rows match", within: .seconds(60)) {
                // What waits for its back-off is brought forward.
                try await service.postgres.execute(
                    "UPDATE object_deletions SET due_at = now() AT TIME ZONE 'UTC' WHERE attempts > 0"
                )
                guard try await service.count("SELECT count(*) FROM object_deletions") == 0 else { return false }
                return service.objects.keys().count == 2
            }
            #expect(service.objects.keys().contains(kept))
            #expect(try await service.count("SELECT count(*) FROM photos WHERE state = 'ready'") == 2)
        }
    }
}
