import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import S3
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

@Suite("A store that breaks, delays and refuses hundreds of times", .timeLimit(.minutes(6)))
struct FaultyStoreStormTests {
    private static let stageCount = 5
    private static let operationsPerStage = 100
    private static let parallelism = 8
    private static let bucket = "selfies"

    @Test("Of 500 operations each success is true, each failure a 503, and in the end rows and objects match")
    func faults() async throws {
        try await withScene { scene in
            for stage in 0..<Self.stageCount {
                try await scene.begin(stage: stage)
                await withTaskGroup(of: Void.self) { operations in
                    for number in 0..<Self.operationsPerStage {
                        if number >= Self.parallelism { await operations.next() }
                        operations.addTask { await scene.clients.operate(stage * Self.operationsPerStage + number) }
                    }
                }
            }
            scene.proxy.endFaults()
            #expect(scene.clients.ledger.surprises == [])
            try await scene.checkCoverage()
            try await scene.waitForFaults()
            try await scene.checkUploadsInParts()
            try await scene.checkStore()
            try await scene.checkLists()
            try await scene.checkRedirect()
            scene.checkLogs()
        }
    }

    private func withScene(_ body: @Sendable (FaultyStoreScene) async throws -> Void) async throws {
        try await RcloneServer.withServer { store in
            try await FaultyProxy.with(store, seed: 4) { proxy in
                try await CredentialEndpoint.with(store, lifetime: 3 * 3_600) { endpoint in
                    let settings = [
                        "OBJECTS_PATH": "", "S3_BUCKET_NAME": Self.bucket, "AWS_ENDPOINT_URL_S3": proxy.endpoint,
                        "AWS_CONTAINER_CREDENTIALS_FULL_URI": endpoint.url,
                    ]
                    try await TestCluster.withDatabase { url in
                        try await Self.withServices(url, settings: settings) { proxying, redirecting in
                            var tokens: [String] = []
                            for name in ["ada", "grace", "alan"] {
                                tokens.append(try await proxying.makeToken(email: "\(name)@example.com"))
                            }
                            let clients = StoreClients(proxying: proxying, redirecting: redirecting, tokens: tokens)
                            try await body(
                                FaultyStoreScene(clients: clients, store: store, proxy: proxy, endpoint: endpoint)
                            )
                        }
                    }
                }
            }
        }
    }

    /// Starts two services on one database, as two processes would be.
    private static func withServices(
        _ url: String,
        settings: [String: String],
        _ body: @Sendable (TestService, TestService) async throws -> Void
    ) async throws {
        let adjust: @Sendable (inout SelfieService) -> Void = { service in
            service.sweepInterval = .milliseconds(200)
            service.bucket.uploads.maxSinglePutBytes = 5 << 20
            service.bucket.uploads.partBytes = 5 << 20
        }
        let proxy = settings.merging(["PHOTO_DELIVERY": "proxy"]) { $1 }
        let redirect = settings.merging(["PHOTO_DELIVERY": "redirect"]) { $1 }
        try await TestService.run(databaseURL: url, settings: proxy, adjust: adjust) { proxying in
            try await TestService.run(databaseURL: url, settings: redirect, adjust: adjust) { redirecting in
                try await body(proxying, redirecting)
            }
        }
    }
}
