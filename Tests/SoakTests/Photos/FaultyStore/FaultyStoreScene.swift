import ConnectionTestSupport
import Foundation
import Postgres
import S3
import S3TestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

/// Two services and their misbehaving store.
struct FaultyStoreScene: Sendable {
    let clients: StoreClients
    let store: RcloneServer
    let proxy: FaultyProxy
    let endpoint: CredentialEndpoint

    private var objects: TestObjects { .s3(store) }
    private var service: TestService { clients.proxying }

    /// Changes what the store wants, for all requests at once.
    func begin(stage: Int) async throws {
        switch stage {
        case 0:
            // A first photo makes the bucket.
            try await poll("a first upload") {
                try await clients.upload(TestImage.jpeg, user: 0, to: service, kind: "upload")
            }
            proxy.beginFaults()
        case 1: proxy.demand(region: "eu-west-9")
        case 2:
            proxy.demandTime()
            clients.proxying.clock.advance(by: -3_600)
            clients.redirecting.clock.advance(by: 2_400)
            try await learn()
        case 3: renewCredentials()
        default:
            proxy.demand(region: "eu-south-7")
            clients.proxying.clock.advance(by: 7_200)
            renewCredentials()
        }
    }

    private func renewCredentials() {
        proxy.demand(sessionToken: endpoint.renew())
        // Keys that were fetched this very moment are not fetched again.
        for service in [clients.proxying, clients.redirecting] { service.clock.advance(by: 11) }
    }

    /// Has the service that redirects find out the time: clients who are sent to the store can't.
    private func learn() async throws {
        try await poll("the service knows the store's clock", within: .seconds(60)) {
            try await clients.upload(TestImage.jpeg, user: 0, to: clients.redirecting, kind: "upload")
        }
    }

    /// Each fault came up, and each kind of operation succeeded, and the most important ones failed as well.
    func checkCoverage() async throws {
        let faults = Set(proxy.records.compactMap(\.fault))
        #expect(faults == Set(StoreFault.allCases))
        let refusals = Set(proxy.records.compactMap(\.outcome))
        #expect(refusals.isSuperset(of: ["AuthorizationHeaderMalformed", "RequestTimeTooSkewed", "ExpiredToken"]))
        let outcomes = Set(clients.ledger.counts.keys)
        let expected: Set = [
            "upload 200", "upload 503", "large upload 200", "large upload 503", "deletion 200", "list 200", "get 200",
            "get 404", "range 206", "head 200", "redirect 200",
        ]
        #expect(outcomes.isSuperset(of: expected), "\(clients.ledger.counts)")
        let refusedCount = clients.ledger.counts.filter { $0.key.hasSuffix(" 503") }.values.reduce(0, +)
        #expect(clients.ledger.counts.values.reduce(0, +) >= 500 && refusedCount < 125, "\(clients.ledger.counts)")
    }

    /// Waits for what reaches the store late.
    func waitForFaults() async throws {
        try await poll("the last faults are over", within: .seconds(30)) { proxy.faultsUnderWay == 0 }
    }

    /// Rows and objects match one to one, and are what clients were answered.
    func checkStore() async throws {
        try await poll("nothing is left to be deleted", within: .seconds(60)) {
            // What waits for its back-off, or for a put that may still come, is brought forward.
            try await service.postgres.write("UPDATE object_deletions SET due_at = now() AT TIME ZONE 'UTC'")
            return try await service.count("SELECT count(*) FROM object_deletions") == 0
        }
        #expect(try await service.count("SELECT count(*) FROM photos WHERE state <> 'ready'") == 0)
        let rows = try await service.postgres.read("SELECT random_id FROM photos")
        let kept = clients.ledger.kept
        #expect(try rows.map { try $0.decode("random_id", as: String.self) }.sorted() == kept.map(\.id).sorted())
        #expect(objects.keys() == kept.map(\.id).sorted())
        for photo in kept {
            #expect(objects.bytes(key: photo.id) == photo.bytes, "\(photo.id) has other bytes")
        }
    }

    func checkLists() async throws {
        for (user, token) in clients.tokens.enumerated() {
            let listed = try await service.list(token: token).photoIDs()
            #expect(listed.sorted() == clients.ledger.kept.filter { $0.user == user }.map(\.id).sorted())
        }
    }

    /// Uploads in parts are left over only where their begin or their end was hidden, and can be taken back.
    func checkUploadsInParts() async throws {
        try await withS3Client(of: store, bucket: "selfies") { client in
            let left = try await client.listUploads().entries
            for upload in left {
                let isExcused = proxy.records.contains { record in
                    let isBegin = record.method == "POST" && record.target.contains("\(upload.key)?uploads")
                    let isEnd = record.method == "DELETE" && record.target.contains("uploadId=\(upload.id)")
                    return (isBegin && record.fault?.hidesSuccess == true) || (isEnd && record.fault != nil)
                }
                #expect(isExcused, "the upload of \(upload.key) was forgotten")
                try await client.abortUpload(key: upload.key, uploadID: upload.id)
            }
            #expect(try await client.listUploads().entries.isEmpty)
        }
    }

    /// What was learned is in the URLs for others, too.
    func checkRedirect() async throws {
        let photo = try #require(clients.ledger.kept.first)
        let answer = try await clients.redirecting.send("GET", photo.target)
        let url = try #require(answer.headers["location"])
        #expect(url.contains("eu-south-7") && url.contains(endpoint.sessionToken))
        #expect(try await service.send("GET", url).body == photo.bytes)
    }

    func checkLogs() {
        for service in [clients.proxying, clients.redirecting] {
            for secret in [store.secretAccessKey, "session-token-", "Signature="] + clients.tokens {
                #expect(!service.log.text.contains(secret))
            }
        }
    }
}
