import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("What tests let the service do")
struct ServiceControlTests {
    @Test("Offline, nothing arrives")
    func offline() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        let count = service.receivedCalls.count
        service.isOffline = true
        #expect(service.isOffline)
        await #expect(throws: SelfieError.offline) { try await selfie.profile() }
        #expect(service.receivedCalls.count == count)
        service.isOffline = false
        #expect(try await selfie.profile().firstName == "ada")
        let last = try #require(service.receivedCalls.last)
        #expect(last.method == "GET" && last.path == "/api/me" && last.status == 200)
    }

    @Test(
        "A lost answer was work that is done, for the path alone that it is for",
        arguments: ["me", "/api/me", "api/me", "/me"]
    )
    func loss(path: String) async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com") { $0.maxTries = 1 }
        service.loseNextAnswer(to: path)
        _ = try await selfie.sessions()
        await #expect(throws: SelfieError.interrupted) {
            try await selfie.updateProfile(ProfileChange(title: "Countess"))
        }
        #expect(service.receivedCalls.last?.status == nil)
        #expect(try await selfie.profile().title == "Countess")
    }

    @Test("A refusal is told once, with its words and its time, and nothing is done")
    func refusal() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        service.refuseNext(with: 429, code: "too_many_requests", retryAfter: 60)
        await #expect(throws: SelfieError.tooManyRequests(retryAfter: .seconds(60))) {
            try await selfie.updateProfile(ProfileChange(title: "Countess"))
        }
        service.refuseNext(with: 403, code: "photo_quota_reached", message: "It is full")
        let refusal = SelfieError.Refusal(status: 403, code: "photo_quota_reached", message: "It is full")
        await #expect(throws: SelfieError.quotaReached(refusal)) { try await selfie.profile() }
        #expect(try await selfie.profile().title == nil)
    }

    @Test("A rate limit refuses as many calls as it is told, of its path alone, and says when to try again")
    func rateLimit() async throws {
        let service = try TestSchema.service()
        let ada = try await ServiceCaller(service, as: "ada@example.com")
        service.limitRate(ofNext: 2, retryAfter: 7, to: "records/houses")
        #expect(try await ada.send("GET", "me").status == 200)
        for _ in 1...2 {
            let refused = try await ada.send("POST", "records/houses", #"{"data":{"address":"a"}}"#)
            #expect(refused.refusal == "429 too_many_requests: Too many requests. Please try again later!")
            #expect(refused.response.headers["retry-after"] == "7")
        }
        #expect(try await ada.send("GET", "records/houses").json["records"] == [])
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        service.limitRate(retryAfter: 60)
        await #expect(throws: SelfieError.tooManyRequests(retryAfter: .seconds(60))) { try await selfie.profile() }
    }

    @Test("A client that is gone leaves neither files nor the service behind")
    func end() async throws {
        let folder: URL
        weak var weakService: InMemoryService?
        do {
            let service = try TestSchema.service()
            weakService = service
            let selfie = try await service.makeClient(signedInAs: "ada@example.com")
            var path: URL?
            _ = service.makeClient { path = $0.folder.deletingLastPathComponent() }
            folder = try #require(path)
            try await selfie.outbox.create(House(address: "12 Rose Street"))
            try await selfie.outbox.waitUntilSent()
            #expect(FileManager.default.fileExists(atPath: folder.path))
        }
        try await poll { weakService == nil }
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }
}
