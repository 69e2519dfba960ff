import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("Records of several members in memory")
struct SharedRecordTests {
    private struct Clients {
        let service: InMemoryService
        let ada, bob: Selfie
        let adaID, bobID: String

        init() async throws {
            service = try TestSchema.service()
            ada = try await service.makeClient(signedInAs: "ada@example.com")
            bob = try await service.makeClient(signedInAs: "bob@example.com")
            (adaID, bobID) = (try #require(try ada.userID), try #require(try bob.userID))
        }
    }

    private func code(_ call: () async throws -> Void) async throws -> String? {
        do {
            try await call()
            return nil
        } catch let error as SelfieError {
            return error.refusal?.code
        }
    }

    @Test("Readers read, writers write, and only the owner sees who they are")
    func readers() async throws {
        let clients = try await Clients()
        let (ada, bob) = (clients.ada.records(ChatThread.self), clients.bob.records(ChatThread.self))
        let created = try await ada.create(ChatThread(name: "1"), id: "t", readers: [clients.bobID])
        #expect(created.readers == [clients.bobID] && created.writers == [])
        let read = try await bob.record("t")
        #expect(read.fields == created.fields && read.readers == nil && read.writers == nil)
        #expect(try await code { try await bob.update(read) } == "record_forbidden")
        try await ada.save(ChatThread(name: "2"), id: "t", writers: [clients.bobID])
        #expect(try await bob.modify("t") { $0.name = "3" }.version == 3)
        #expect(try await code { try await bob.delete("t") } == "record_forbidden")
        #expect(
            try await code { try await bob.save(ChatThread(name: "4"), id: "t", readers: []) } == "record_forbidden"
        )
        try await ada.save(ChatThread(name: "5"), id: "t", writers: [])
        try await bob.delete("t")
        #expect(try await bob.find("t") == nil)
        #expect(try await ada.record("t").readers == [])
        #expect(try await code { try await ada.create(ChatThread(name: "x"), readers: ["nobody"]) } == "reader_unknown")
        try await clients.bob.block(clients.adaID)
        #expect(
            try await code { try await ada.create(ChatThread(name: "x"), readers: [clients.bobID]) } == "reader_unknown"
        )
    }

    @Test("A new message is in its thread, with the thread's readers, and protects it")
    func threads() async throws {
        let clients = try await Clients()
        let (threads, messages) = (clients.ada.records(ChatThread.self), clients.ada.records(Message.self))
        try await threads.create(ChatThread(name: "T"), id: "t", readers: [clients.bobID])
        try await messages.create(Message(threadId: "t", text: "Hi"), id: "m1")
        try await messages.create(Message(threadId: "t", text: "Ho"), id: "m2")
        #expect(try await clients.bob.records(ChatThread.self).record("t").fields.lastMessage == "m2")
        let bobs = clients.bob.records(Message.self)
        let page = try await bobs.page(where: [.equal("threadId", "t")], order: .newestFirst, include: ["threadId"])
        #expect(page.records.map(\.id) == ["m2", "m1"] && page.next == nil)
        #expect(page.included("t", as: ChatThread.self)?.fields.name == "T")
        // Only new messages change the field.
        try await threads.save(ChatThread(name: "U", lastMessage: "m1"), id: "t")
        #expect(try await threads.record("t").fields == ChatThread(name: "U", lastMessage: "m2"))
        #expect(try await code { try await threads.delete("t") } == "record_referred_to")
        #expect(try await code { try await messages.create(Message(threadId: "none", text: "")) } == "record_invalid")
        try await messages.delete("m2")
        #expect(try await threads.record("t").fields.lastMessage == nil)
        try await messages.delete("m1")
        try await threads.delete("t")
    }

    @Test("A message is in its recipient's inbox once, and its sender learns nothing more")
    func inboxes() async throws {
        let clients = try await Clients()
        let outgoing: Records<Letter> = clients.ada.inbox(of: clients.bobID)
        let inbox = clients.bob.records(Letter.self)
        let sent = try await outgoing.create(Letter(text: "Hi"), id: "1")
        #expect(sent.version == 1 && sent.owner == clients.adaID)
        #expect(try await inbox.all().collect().map(\.fields.text) == ["Hi"])
        #expect(try await clients.ada.records(Letter.self).all().collect().isEmpty)
        #expect(try await code { _ = try await outgoing.find("1") } == "record_forbidden")
        try await inbox.delete("1")
        #expect(try await outgoing.create(Letter(text: "Hi"), id: "1").version == 1)
        #expect(try await inbox.all().collect().isEmpty)
        #expect(try await code { try await outgoing.create(Letter(text: "Ho"), id: "1") } == "message_id_taken")
        try await outgoing.create(Letter(text: "Withdrawn"), id: "2")
        try await outgoing.delete("2")
        #expect(try await inbox.find("2") == nil)
        try await clients.bob.block(clients.adaID)
        #expect(try await code { try await outgoing.create(Letter(text: "Hey"), id: "3") } == "member_not_found")
        #expect(try await outgoing.create(Letter(text: "Hi"), id: "1").version == 1)
        try await clients.bob.unblock(clients.adaID)
        try await outgoing.create(Letter(text: "Hey"), id: "3")
        #expect(try await inbox.record("3").fields.text == "Hey")
    }

    @Test("Members of a role share records, and all members read what is published")
    func roles() async throws {
        let clients = try await Clients()
        let (ada, bob) = (clients.ada.records(Bug.self), clients.bob.records(Bug.self))
        #expect(try await code { try await ada.create(Bug(title: "x")) } == "collection_not_found")
        clients.service.add(clients.adaID, toRole: "leads")
        clients.service.add(clients.adaID, toRole: "team")
        try await ada.create(Bug(title: "Crash"), id: "b")
        #expect(try await code { _ = try await bob.find("b") } == nil)
        #expect(try await code { _ = try await bob.page() } == "collection_not_found")
        try await clients.ada.add(clients.bobID, toRole: "team")
        #expect(
            try await clients.ada.members(ofRole: "team").members.map(\.id).sorted()
                == [clients.adaID, clients.bobID].sorted()
        )
        #expect(try await bob.modify("b") { $0.title = "Fixed" }.version == 2)
        #expect(try await code { try await bob.delete("b") } == "record_forbidden")
        #expect(try await code { try await clients.bob.remove(clients.adaID, fromRole: "team") } == "role_forbidden")
        try await clients.ada.remove(clients.bobID, fromRole: "team")
        #expect(try await code { _ = try await bob.page() } == "collection_not_found")
        try await clients.ada.records(News.self).create(News(title: "New"), id: "n")
        let late = try await clients.service.makeClient(signedInAs: "eve@example.com")
        #expect(try await late.records(News.self).record("n").fields.title == "New")
        #expect(try await code { try await late.records(News.self).delete("n") } == "record_forbidden")
    }

    @Test("The directory, a profile and blocks")
    func members() async throws {
        let clients = try await Clients()
        let profile = try await clients.ada.updateProfile(
            ProfileChange(lastName: "Lovelace", title: "Countess", showsEmail: true, fields: ["a": 1, "b": 2])
        )
        #expect(profile.lastName == "Lovelace" && profile.showsEmail && profile.emailState == "unverified")
        #expect(try await clients.ada.updateProfile(ProfileChange(fields: ["a": .null])).fields == ["b": 2])
        let member = try await clients.bob.member(clients.adaID)
        #expect(member.email == "ada@example.com" && member.title == "Countess" && member.firstName == "ada")
        #expect(try await clients.ada.member(clients.bobID).email == nil)
        let first = try await clients.ada.members(limit: 1)
        #expect(first.members.map(\.id) == [clients.adaID])
        #expect(try await clients.ada.members(after: first.next).members.map(\.id) == [clients.bobID])
        #expect(try await clients.ada.members(startingWith: "COUNT").members.map(\.id) == [clients.adaID])
        try await clients.ada.block(clients.bobID)
        try await clients.ada.block(clients.bobID)
        #expect(try await clients.ada.blocks() == [clients.bobID])
        #expect(try await code { try await clients.ada.block(clients.adaID) } == "member_is_oneself")
        try await clients.ada.unblock(clients.bobID)
        #expect(try await clients.ada.blocks().isEmpty)
    }

    @Test("Without a directory, members see whom they meet in records")
    func withoutDirectory() async throws {
        var settings = InMemoryService.Settings()
        settings.hasDirectory = false
        let service = try TestSchema.service(settings: settings)
        let ada = try await service.makeClient(signedInAs: "ada@example.com")
        let bob = try await service.makeClient(signedInAs: "bob@example.com")
        let (adaID, bobID) = (try #require(try ada.userID), try #require(try bob.userID))
        #expect(try await code { _ = try await bob.members() } == "endpoint_not_found")
        #expect(try await code { _ = try await bob.member(adaID) } == "member_not_found")
        try await ada.inbox(of: bobID).create(Letter(text: "Hi"))
        #expect(try await bob.member(adaID).id == adaID)
    }
}
