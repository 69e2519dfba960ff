import ConnectionTestSupport
import ServiceTestSupport
import Testing

@testable import SelfieApp

@Suite("The object store is unreachable, in real time", .timeLimit(.minutes(3)))
struct StoreOutageSoakTests {
    @Test(
        "Uploads are refused within 5 s and leave no row, deletes are done later, lists work",
        arguments: StoreOutage.allCases
    )
    func bucket(outage: StoreOutage) async throws {
        try await TestService.run(store: .ownS3, adjust: { $0.sweepInterval = .milliseconds(200) }) { service in
            let token = try await service.makeToken()
            let kept = try #require(try await service.upload(token: token).json["random_id"] as? String)
            let deleted = try #require(try await service.upload(token: token).json["random_id"] as? String)
            try await outage.expectOutlived(
                by: service,
                token: token,
                kept: kept,
                deleted: deleted,
                maxAnswer: maxOutageAnswer,
                maxReturn: .seconds(5)
            )
        }
    }
}
