import ConnectionTestSupport
import Curl
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp
@testable import SelfieNotifications
@testable import Webhooks

@Suite("Webhooks", .timeLimit(.minutes(3)))
struct WebhookTests {
    private static let secretKeyBase = String(repeating: "secret-key-base-", count: 4)

    /// Runs a body with a service that may send to this machine, and a receiver.
    private static func run(
        settings: [String: String] = [:],
        _ body: @escaping @Sendable (TestService, WebhookReceiver) async throws -> Void
    ) async throws {
        try await WebhookReceiver.with { receiver in
            let settings = ["WEBHOOK_NETWORKS": "127.0.0.0/8", "RATE_LIMITS": "off"].merging(settings) { $1 }
            try await TestService.runWithSchema(settings: settings, sendsMails: false) { service in
                try await body(service, receiver)
            }
        }
    }

    private static func store(_ service: TestService) -> WebhookStore {
        WebhookStore(postgres: service.postgres, secret: secretKeyBase)
    }

    /// Adds a webhook whose receiver verifies with its secret.
    @discardableResult
    private static func add(
        _ receiver: WebhookReceiver,
        on events: [String],
        isFull: Bool = false,
        replies: WebhookReceiver.Replies = .init(),
        _ service: TestService
    ) async throws -> (id: Int, secret: String) {
        let url = try #require(WebhookURL(receiver.url))
        let (id, secret) = try #require(try await store(service).add(url, events: events, isFull: isFull))
        service.secrets.note([secret.text])
        var replies = replies
        replies.secret = secret.text
        try receiver.reply(replies)
        return (id, secret.text)
    }

    /// The bodies of events, without their times, which must be of the present.
    private static func bodies(_ requests: [WebhookReceiver.Received]) throws -> [String] {
        try requests.map { request in
            let parts = try #require(request.body.firstMatch(of: /,"timestamp":"([^"]+)"/))
            let time = try Date(
                String(parts.1),
                strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true)
            )
            #expect(abs(time.timeIntervalSinceNow) < 120)
            return request.body.replacing(parts.0, with: "")
        }
    }

    @Test("Records, photos and users: each change is told once, verified by the reference library")
    func events() async throws {
        try await Self.run { service, receiver in
            try await Self.add(receiver, on: ["houses", "photos", "users"], service)
            let ada = try await service.addMember("ada")
            let path = "/api/records/houses/h1"
            #expect(try await service.call("PUT", path, as: ada, #"{"data":{"address":"a"}}"#).status == 200)
            #expect(try await service.call("PATCH", path, as: ada, #"{"data":{"address":"b"}}"#).status == 200)
            // A change that is refused is none.
            #expect(try await service.call("PATCH", path, as: ada, #"{"data":{"address":5}}"#).status == 400)
            #expect(try await service.call("DELETE", path, as: ada).status == 200)
            let photo = try await service.upload(token: ada.token).json["random_id"] as? String ?? ""
            #expect(try await service.delete(photo, token: ada.token).status == 200)
            try await service.postgres.write("UPDATE users SET email = 'countess@example.com' WHERE id = \(ada.userID)")
            try await service.postgres.write("UPDATE users SET disabled_at = now() WHERE id = \(ada.userID)")
            try await service.postgres.write("DELETE FROM users WHERE id = \(ada.userID)")

            let requests = try await receiver.requests(count: 9)
            #expect(requests.allSatisfy { $0.isVerified && $0.signatures.count == 1 && $0.path == "/hook" })
            #expect(requests.allSatisfy { $0.contentType == "application/json" })
            #expect(Set(requests.map(\.id)).count == 9)
            let house = #"{"collection":"houses","id":"h1","owner":"\#(ada.id)","version":"#
            let photoData = #"{"collection":"photos","id":"\#(photo)","owner":"\#(ada.id)","version":"#
            let user = #"{"collection":"users","id":"\#(ada.id)","owner":"\#(ada.id)"}}"#
            let expected = [
                #"{"type":"houses.created","data":\#(house)1}}"#, #"{"type":"houses.updated","data":\#(house)2}}"#,
                #"{"type":"houses.deleted","data":\#(house)3}}"#, #"{"type":"photos.created","data":\#(photoData)4}}"#,
                #"{"type":"photos.deleted","data":\#(photoData)5}}"#, #"{"type":"users.created","data":\#(user)"#,
                #"{"type":"users.email_changed","data":\#(user)"#, #"{"type":"users.disabled","data":\#(user)"#,
                #"{"type":"users.deleted","data":\#(user)"#,
            ]
            #expect(try Set(Self.bodies(requests)) == Set(expected))
            try await poll("nothing waits") { try await service.count("SELECT count(*) FROM deliveries") == 0 }
        }
    }

    @Test("Only what was asked for is told; with --full the record, the photo or the user, as long as it is there")
    func withContents() async throws {
        try await Self.run { service, receiver in
            try await Self.add(
                receiver,
                on: ["houses.created", "users.created", "photos.created"],
                isFull: true,
                service
            )
            let ada = try await service.addMember("ada")
            let path = "/api/records/houses/h1"
            #expect(try await service.call("PUT", path, as: ada, #"{"data":{"address":"Rue \u00e9"}}"#).status == 200)
            _ = try await service.upload(token: ada.token)
            #expect(try await service.call("DELETE", path, as: ada).status == 200)
            let requests = try await receiver.requests(count: 3)
            let data = try requests.map { request in
                try #require(try JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? [String: Any])
            }
            let records = data.reduce(into: [String: [String: Any]]()) { records, event in
                records[event["type"] as? String ?? ""] = (event["data"] as? [String: Any])?["record"] as? [String: Any]
            }
            #expect(records["users.created"]?["email"] as? String == "ada@example.com")
            #expect(records["photos.created"]?["title"] as? String == "My selfie")
            // The house may be gone by then.
            let address = (records["houses.created"]?["data"] as? [String: Any])?["address"] as? String
            #expect(records["houses.created"] == nil || address == "Rue é")
            #expect(requests.allSatisfy { $0.isVerified })
        }
    }

    @Test("A webhook for which too many events wait is disabled, and can be enabled again")
    func full() async throws {
        try await TestService.runWithSchema(sendsMails: false, adjust: { $0.worksInBackground = false }) { service in
            var store = Self.store(service)
            let url = try #require(WebhookURL("https://example.com/hook"))
            let (id, _) = try #require(try await store.add(url, events: ["users"], isFull: false))
            for number in 0..<11 { _ = try await service.addMember("m\(number)") }
            store.maxWaitingCount = 11
            #expect(try await store.tidy().isEmpty)
            store.maxWaitingCount = 10
            #expect(try await store.tidy() == [id])
            #expect(try await store.find(id)?.disabledReason == .failing)
            let failed = "SELECT count(*) FROM deliveries WHERE failed_at IS NOT NULL AND reason = 'disabled'"
            #expect(try await service.count(PostgresQuery(stringLiteral: failed)) == 11)
            #expect(try await store.enable(id))
            #expect(try await store.tidy().isEmpty)
            #expect(try await store.find(id)?.disabledAt == nil)
        }
    }

    @Test("In development, an event is a file and a line, and no request")
    func outbox() async throws {
        try await WebhookReceiver.with { receiver in
            try await TestService.runWithSchema(settings: ["WEBHOOK_NETWORKS": "127.0.0.0/8"]) { service in
                try await Self.add(receiver, on: ["houses"], service)
                let ada = try await service.addMember("ada")
                _ = try await service.call("PUT", "/api/records/houses/h1", as: ada, #"{"data":{"address":"a"}}"#)
                let name = try await found("a file") {
                    try? FileManager.default.contentsOfDirectory(atPath: service.mails.folder.path)
                        .first { $0.hasSuffix(".json") }
                }
                #expect(name.contains("-houses.created-"))
                let file = service.mails.folder.appending(path: name)
                #expect(
                    try String(contentsOf: file, encoding: .utf8).hasPrefix(#"{"type":"houses.created","timestamp":"#)
                )
                try await poll("it is over") { try await service.count("SELECT count(*) FROM deliveries") == 0 }
                #expect(service.mails.all.contains("webhook 1: houses.created"))
                #expect(try receiver.requests().isEmpty)
            }
        }
    }

    @Test("An account that leaves is told of once, and new rules for a collection are no change of its records")
    func ends() async throws {
        try await Self.run { service, receiver in
            let schema = #"{"collections": {"notes": {"access": "ACCESS", "fields": {"text": {"type": "string"}}}}}"#
            try await service.apply(schema.replacing("ACCESS", with: "private"))
            try await Self.add(receiver, on: ["users", "notes"], service)
            let token = try await service.makeToken()
            let ada = TestMember(name: "ada", token: token, id: "")
            #expect(
                try await service.call("PUT", "/api/records/notes/n1", as: ada, #"{"data":{"text":"a"}}"#).status == 200
            )
            _ = try await receiver.requests(count: 2)
            try await service.apply(schema.replacing("ACCESS", with: "published"))
            #expect(try await service.count("SELECT count(*) FROM deliveries") == 0)
            let left = try await service.sendForm(
                "DELETE",
                "/api/account",
                authorization: "Token token=\(token)",
                [("password", try TestService.encrypt("my password"))]
            )
            #expect(left.status == 200)
            try await poll("the account is gone") { try await service.count("SELECT count(*) FROM users") == 0 }
            try await poll("nothing waits") { try await service.count("SELECT count(*) FROM deliveries") == 0 }
            let types = try receiver.requests().compactMap { $0.body.firstMatch(of: /"type":"([^"]+)"/)?.1 }
            #expect(types.sorted() == ["notes.created", "notes.deleted", "users.created", "users.deleted"])
        }
    }

    @Test("Of a record that is gone, and of a photo and a user, nothing but ids is left")
    func gone() async throws {
        try await Self.run { service, _ in
            let ada = try await service.addMember("ada")
            _ = try await service.call("PUT", "/api/records/houses/h1", as: ada, #"{"data":{"address":"a"}}"#)
            let key = try await service.count("SELECT key AS count FROM records")
            let photo = try await service.upload(token: ada.token).json["random_id"] as? String ?? ""
            let reader = EventReader(postgres: service.postgres)
            let subjects = [("houses", "h1"), ("photos", photo), ("users", ada.id)].map { collection, id in
                WebhookEvent.Subject(collection: collection, id: id, owner: ada.id, version: 1, key: key)
            }
            for isThere in [true, false] {
                for subject in subjects {
                    if !isThere, subject.collection == "users" {
                        try await service.postgres.write("DELETE FROM users WHERE id = \(ada.userID)")
                    }
                    let event = WebhookEvent(type: "\(subject.collection).created", data: subject)
                    let body = try await reader.body(of: event, at: Date(), isFull: true)
                    #expect(body.contains(#""record":{"#) == isThere, "\(body)")
                    #expect(!body.contains(#""key""#))
                    #expect(try await !reader.body(of: event, at: Date(), isFull: false).contains(#""record""#))
                }
                _ = try await service.call("DELETE", "/api/records/houses/h1", as: ada)
                _ = try await service.delete(photo, token: ada.token)
            }
        }
    }

    @Test("While secrets change, the receiver may have the old or the new one; the database has none")
    func rotation() async throws {
        try await Self.run { service, receiver in
            let (id, old) = try await Self.add(receiver, on: ["houses"], service)
            let ada = try await service.addMember("ada")
            let new = try #require(try await Self.store(service).rotate(id)).text
            service.secrets.note([new])
            for (number, secret) in [old, new].enumerated() {
                try receiver.reply(.init(secret: secret))
                _ = try await service.call(
                    "PUT",
                    "/api/records/houses/h\(number)",
                    as: ada,
                    #"{"data":{"address":"a"}}"#
                )
                let request = try await receiver.requests(count: number + 1)[number]
                #expect(request.isVerified && request.signatures.count == 2)
            }
            let rows = try await service.postgres.read("SELECT to_jsonb(webhooks)::text AS row FROM webhooks")
            let text = try rows[0].decode("row", as: String.self)
            for secret in [old, new] {
                let bytes = try #require(Data(base64Encoded: String(secret.dropFirst(6))))
                #expect(secret.hasPrefix("whsec_") && bytes.count == 32)
                for form in [secret.dropFirst(6).description, bytes.map { String(format: "%02x", $0) }.joined()] {
                    #expect(!text.contains(form))
                }
            }
            try await service.postgres.write("UPDATE webhooks SET former_secret_ends_at = now() - interval '1 day'")
            try receiver.reply(.init(secret: old))
            _ = try await service.call("PUT", "/api/records/houses/h2", as: ada, #"{"data":{"address":"a"}}"#)
            let last = try await receiver.requests(count: 3)[2]
            #expect(!last.isVerified && last.signatures.count == 1)
            #expect(try await Self.store(service).tidy() == [])
            #expect(try await service.count("SELECT count(*) FROM webhooks WHERE former_secret IS NOT NULL") == 0)
        }
    }

    @Test("A failure is tried again with the same id and a new time; a redirect is a failure, and not followed")
    func retries() async throws {
        try await Self.run { service, receiver in
            let (id, _) = try await Self.add(
                receiver,
                on: ["houses"],
                replies: .init(status: 302, headers: ["Location": "\(receiver.url)/elsewhere"]),
                service
            )
            let ada = try await service.addMember("ada")
            _ = try await service.call("PUT", "/api/records/houses/h1", as: ada, #"{"data":{"address":"a"}}"#)
            let first = try await receiver.requests(count: 1)[0]
            try await poll("the failure is noted") {
                try await service.count("SELECT count(*) FROM deliveries WHERE reason = '302'") == 1
            }
            #expect(try await Self.store(service).find(id)?.failingSince != nil)
            try receiver.reply(.init())
            let requests = try await receiver.requests(count: 2)
            #expect(requests[1].id == first.id && requests[1].timestamp > first.timestamp)
            #expect(requests[1].body == first.body && !receiver.isFollowed)
            try await poll("it is over") { try await service.count("SELECT count(*) FROM deliveries") == 0 }
            #expect(try await Self.store(service).find(id)?.failingSince == nil)
        }
    }

    @Test("410, days of failures and a full line disable a webhook, and a log says so; nothing is told to it then")
    func disabled() async throws {
        try await Self.run { service, receiver in
            let store = Self.store(service)
            let ada = try await service.addMember("ada")
            for (status, reason) in [(410, Webhook.DisabledReason.gone), (500, .failing)] {
                let (id, _) = try await Self.add(receiver, on: ["houses"], replies: .init(status: status), service)
                if status == 500 {
                    try await service.postgres.write(
                        "UPDATE webhooks SET failing_since = now() - interval '4 days 23 hours'"
                    )
                    _ = try await service.call("POST", "/api/records/houses", as: ada, #"{"data":{"address":"a"}}"#)
                    try await poll("tried") {
                        try await service.count("SELECT count(*) FROM deliveries WHERE reason = '500'") == 1
                    }
                    #expect(try await store.find(id)?.disabledAt == nil)
                    try await service.postgres.write(
                        "UPDATE webhooks SET failing_since = now() - interval '5 days 1 hour'"
                    )
                }
                _ = try await service.call("POST", "/api/records/houses", as: ada, #"{"data":{"address":"a"}}"#)
                try await poll("it is disabled") { try await store.find(id)?.disabledReason == reason }
                try await poll("a line") { service.log.text.contains("a webhook was disabled") }
                let count = try await service.count("SELECT count(*) FROM deliveries")
                _ = try await service.call("POST", "/api/records/houses", as: ada, #"{"data":{"address":"a"}}"#)
                #expect(try await service.count("SELECT count(*) FROM deliveries") <= count)
                #expect(try await store.enable(id))
                #expect(try await store.find(id)?.failingSince == nil)
                #expect(try await store.remove(id))
            }
        }
    }

    @Test("A rollback takes its events along, and the seventeenth webhook is refused")
    func limits() async throws {
        try await Self.run { service, receiver in
            let (id, _) = try await Self.add(receiver, on: ["houses"], service)
            let ada = try await service.addMember("ada")
            // The last of the call's records is taken.
            _ = try await service.call("PUT", "/api/records/houses/h1", as: ada, #"{"data":{"address":"a"}}"#)
            _ = try await receiver.requests(count: 1)
            let both = #"[{"id":"h2","data":{"address":"a"}},{"id":"h1","data":{"address":"a"}}]"#
            #expect(try await service.call("POST", "/api/records/houses", as: ada, both).status == 409)
            #expect(try await service.count("SELECT count(*) FROM deliveries") == 0)
            let url = try #require(WebhookURL(receiver.url))
            let added = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await Self.store(service).add(url, events: ["users"], isFull: false) != nil }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(added == WebhookStore.maxCount - 1)
            #expect(try await Self.store(service).remove(id))
            #expect(try await !Self.store(service).remove(id))
        }
    }
}
