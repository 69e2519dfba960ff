import ConnectionTestSupport
import Foundation
import Logging
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieConfiguration
@testable import SelfieOperations

/// Copying into a bucket that is not there yet.
extension CopyTests {
    private static func copy(_ service: TestService, to server: ScriptedServer) async throws -> TaskResult<
        OutcomeCounts<CopyOutcome>
    > {
        let settings = TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
            .merging([
                "S3_BUCKET_NAME": "photos", "AWS_ACCESS_KEY_ID": "AKIDX",
                "AWS_SECRET_ACCESS_KEY": "s3cr3t/X", "AWS_ENDPOINT_URL_S3": server.endpoint,
                "AWS_REGION": "eu-west-9",
            ]) { $1 }
        return try await Installation.copy(
            .s3,
            configuration: try ConfigurationSource(values: settings).read { $0.copying() },
            logger: service.log.logger(level: .info)
        )
    }

    @Test("A copy that ends early reports what it has copied")
    func endedEarly() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            _ = try await Self.upload(TestImage.jpeg, count: 12, to: service, token: token)
            let gateway = RadosGateway(maxObjectCount: 7)
            let result = try await ScriptedServer.with(gateway.replies) { try await Self.copy(service, to: $0) }
            #expect(result.failure.map { "\($0)" }?.contains("QuotaExceeded") == true)
            #expect((1...7).contains(result.report[.copied]))
        }
    }

    @Test("A bucket that is missing is made before the first put, on a store that refuses early: 25 of 25")
    func missingBucket() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let ids = try await Self.upload(TestImage.jpeg, count: 6, to: service, token: token)
            for _ in 0..<25 {
                let gateway = RadosGateway()
                let received = try await ScriptedServer.with(gateway.replies) { server in
                    let result = try await Self.copy(service, to: server)
                    if let failure = result.failure { throw failure }
                    #expect(result.report[.copied] == 6 && result.report.isComplete)
                    return server.received
                }
                #expect(gateway.keys == ids.sorted())
                // Asked for once, then with the region, then without.
                let lines = received.prefix(3).map { $0.line.prefix { $0 != "?" && $0 != "H" } }
                #expect(lines == ["GET /photos", "PUT /photos ", "PUT /photos "])
            }
        }
    }
}
