import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("Records in memory")
struct RecordTests {
    private func clients() async throws -> (service: InMemoryService, ada: Selfie, bob: Selfie) {
        let service = try TestSchema.service()
        return (
            service, try await service.makeClient(signedInAs: "ada@example.com"),
            try await service.makeClient(signedInAs: "bob@example.com")
        )
    }

    /// The code of the refusal that a call ends with.
    private func code(_ call: () async throws -> Void) async throws -> String? {
        do {
            try await call()
            return nil
        } catch let error as SelfieError {
            return error.refusal?.code
        }
    }

    @Test("A record is created, changed and deleted, and only its owner sees it")
    func lifeOfRecord() async throws {
        let (_, ada, bob) = try await clients()
        let houses = ada.records(House.self)
        var record = try await houses.create(House(address: "12 Rose Street", points: 3), id: "house-1")
        #expect(record.version == 1 && record.readers == nil)
        #expect(try record.owner == ada.userID)
        #expect(try await bob.records(House.self).find("house-1") == nil)
        #expect(
            try await code { try await bob.records(House.self).save(House(address: "x"), id: "house-1") }
                == "record_not_found"
        )
        record.fields.points = 4
        record = try await houses.update(record)
        #expect(record.version == 2 && record.updatedAt > record.createdAt)
        #expect(try await houses.record("house-1") == record)
        #expect(try await code { try await houses.delete("house-1", version: 1) } == "record_version_differs")
        try await houses.delete("house-1", version: 2)
        try await houses.delete("house-1")
        #expect(try await houses.find("house-1") == nil)
        #expect(try await houses.create(House(address: "x"), id: "house-1").version == 4)
    }

    @Test("Two changes of one version conflict, and modify makes both")
    func conflicts() async throws {
        let (service, phone, _) = try await clients()
        let tablet = try await service.makeClient(signedInAs: "ada@example.com")
        let before = try await phone.records(House.self).create(House(address: "a", points: 0), id: "h")
        try await tablet.records(House.self).modify("h") { $0.points = 10 }
        #expect(try await code { try await phone.records(House.self).update(before) } == "record_version_differs")
        #expect(
            try await code { try await phone.records(House.self).create(House(address: "b"), id: "h") }
                == "record_version_differs"
        )
        var tries = 0
        let modified = try await phone.records(House.self).modify("h") { house in
            tries += 1
            // Somebody else is faster, once.
            if tries == 1 { service.refuseNext(with: 412, code: "record_version_differs", to: "records/houses/h") }
            house.points = (house.points ?? 0) + 1
        }
        #expect(tries == 2 && modified.fields.points == 11 && modified.version == 3)
    }

    @Test("A change whose answer is lost is made once", arguments: ["create", "save", "update", "delete", "send"])
    func lostAnswers(kind: String) async throws {
        let (service, ada, bob) = try await clients()
        let houses = ada.records(House.self)
        var record = try await houses.create(House(address: "a"), id: "h")
        record.fields.points = 1
        let bobID = try #require(try bob.userID)
        service.loseNextAnswer()
        switch kind {
        case "create": #expect(try await houses.create(House(address: "b"), id: "i").version == 1)
        case "save": #expect(try await houses.save(House(address: "b"), id: "h").version == 2)
        case "update": #expect(try await houses.update(record).version == 2)
        case "delete": try await houses.delete("h")
        default: try await ada.inbox(of: bobID).create(Letter(text: "Hi"), id: "l")
        }
        #expect(service.receivedCalls.filter { $0.status == nil }.count == 1)
        #expect(try await houses.find("h") == nil ? kind == "delete" : kind != "delete")
        #expect(try await bob.records(Letter.self).all().collect().count == (kind == "send" ? 1 : 0))
    }

    @Test("A change sends what has changed, and leaves fields that the type does not know")
    func unknownFields() async throws {
        struct Address: RecordFields {
            static let collection = "houses"
            var address: String
        }
        let (_, ada, _) = try await clients()
        try await ada.records(House.self).create(House(address: "a", points: 7), id: "h")
        let addresses = ada.records(Address.self)
        var record = try await addresses.record("h")
        record.fields.address = "b"
        try await addresses.update(record)
        try await addresses.modify("h") { $0.address += "c" }
        record = try await addresses.record("h")
        record.fields.address += "d"
        try await ada.outbox.update(record, ifUnchanged: true)
        try await ada.outbox.waitUntilSent()
        #expect(try await ada.records(House.self).record("h").fields == House(address: "bcd", points: 7))
        try await ada.records(House.self).modify("h") { $0.points = nil }
        #expect(try await ada.records(House.self).record("h").fields == House(address: "bcd"))
    }

    @Test("Many are created, or none")
    func many() async throws {
        let (_, ada, _) = try await clients()
        let houses = ada.records(House.self)
        let records = try await houses.create(contentsOf: (1...3).map { House(address: "\($0)") })
        #expect(records.map(\.fields.address) == ["1", "2", "3"] && Set(records.map(\.id)).count == 3)
        let long = String(repeating: "x", count: 21)
        #expect(
            try await code { try await houses.create(contentsOf: [House(address: "4"), House(address: long)]) }
                == "record_invalid"
        )
        #expect(try await houses.count() == (3, false))
    }

    @Test("The schema is kept")
    func rules() async throws {
        struct Wrong: RecordFields {
            static let collection = "houses"
            var address: JSONValue?
            var points: JSONValue?
            var photo: JSONValue?
        }
        let (_, ada, bob) = try await clients()
        let wrong = ada.records(Wrong.self)
        #expect(try await code { try await wrong.create(Wrong()) } == "record_invalid")
        #expect(try await code { try await wrong.create(Wrong(address: 1)) } == "record_invalid")
        #expect(try await code { try await wrong.create(Wrong(address: "a", points: "b")) } == "record_invalid")
        let photo = try await bob.photos.upload(.data(TestPhoto.png), title: "x")
        let stolen = Wrong(address: "a", photo: .string(photo.id))
        #expect(try await code { try await wrong.create(stolen) } == "record_invalid")
        #expect(try await code { try await wrong.create(Wrong(address: "a"), id: "a/b") } == "record_id_invalid")
        #expect(try await code { try await wrong.create(Wrong(address: "a"), readers: []) } == "readers_not_allowed")
        let long = Wrong(address: "a", points: .string(String(repeating: "x", count: 1 << 16)))
        #expect(try await code { try await wrong.create(long) } == "record_too_large")
        #expect(
            try await code { try await wrong.create(Wrong(address: "a"), expiresAt: Date() - 60) }
                == "expires_at_invalid"
        )
        #expect(try await wrong.all().collect().isEmpty)
    }

    @Test("Lists are searched, sorted, paged and counted")
    func lists() async throws {
        let (_, ada, _) = try await clients()
        let houses = ada.records(House.self)
        for (number, points) in [3, 1, nil, 2, 1].enumerated() {
            try await houses.create(House(address: "h\(number)", points: points), id: "\(number)")
        }
        func ids(_ filters: [RecordFilter] = [], _ order: RecordOrder = .oldestFirst) async throws -> String {
            try await houses.all(where: filters, order: order, pageSize: 2).collect().map(\.id).joined()
        }
        #expect(try await ids() == "01234")
        #expect(try await ids([], .newestFirst) == "43210")
        #expect(try await ids([], .ascending("points")) == "21430")
        #expect(try await ids([], .descending("points")) == "03412")
        #expect(try await ids([.equal("points", 1)]) == "14")
        #expect(try await ids([.equal("points", .null)]) == "2")
        #expect(try await ids([.oneOf("points", [2, 3]), .prefix("address", "h")]) == "03")
        #expect(try await ids([.range("points", above: 1, through: 3)]) == "03")
        #expect(try await ids([.range("address", from: "h1", below: "h3")]) == "12")
        #expect(try await houses.count(where: [.range("points", from: 2)]) == (2, false))
        #expect(try await code { _ = try await ids([.equal("photo", "x")]) } == "index_missing")
        #expect(try await code { _ = try await ids([], .ascending("photo")) } == "index_missing")
        let page = try await houses.page(limit: 2)
        try await houses.delete("1")
        #expect(try await houses.page(after: page.next, limit: 2).records.map(\.id) == ["2", "3"])
    }

    @Test("A record that expires is gone by itself")
    func expiry() async throws {
        let (_, ada, _) = try await clients()
        let houses = ada.records(House.self)
        let record = try await houses.create(House(address: "a"), id: "h", expiresAt: Date() + 0.2)
        #expect(record.expiresAt != nil)
        try await poll { try await houses.find("h") == nil }
    }
}
