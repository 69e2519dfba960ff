import RecordSchema
import Testing

@testable import SelfieRecords

@Suite("What a sender is answered", .timeLimit(.minutes(1)))
struct InboxPlannerTests {
    private typealias Scene = PlannerScene

    private static let digest = #"r {"a":1}"#
    private static let data = #"{"a":1}"#

    /// What has become of a message of Ada's in Bob's inbox.
    enum Fate: CaseIterable {
        case unread, changed, deleted, usedAgain
    }

    private static func scene(_ fate: Fate) throws -> Scene {
        var scene = try Scene()
        scene.inboxOf = Scene.bob
        let sent = ExistingRecord.Sent(byteCount: 7, digest: digest, expiresAt: nil)
        let gone = SentRecord(
            ownerID: Scene.ada,
            digest: digest,
            createdAt: "2026-11-24T10:00:00.000Z",
            expiresAt: nil
        )
        let (bobs, adas): (Rights, Rights) = ([.read, .write, .delete], [.delete])
        switch fate {
        case .unread, .changed:
            try scene.add(
                "inbox",
                inboxOf: Scene.bob,
                data: fate == .unread ? data : #"{"secret":1}"#,
                sent: sent,
                rights: [2: bobs, 1: adas]
            )
        case .deleted: scene.deletedMessages["r"] = gone
        case .usedAgain:
            scene.deletedMessages["r"] = gone
            try scene.add("inbox", owner: Scene.bob, inboxOf: Scene.bob, rights: [2: bobs])
        }
        return scene
    }

    @Test("Whatever has become of a message, its sender is answered the same", arguments: Fate.allCases)
    func alike(fate: Fate) throws {
        let scene = try Self.scene(fate)
        let again = try scene.outcome(.put, "inbox", by: Scene.ada, data: Self.data)
        guard case .sentBefore(let record) = again else {
            Issue.record("\(again)")
            return
        }
        #expect(record.version == 1 && record.data == Self.data && record.owner == "ada" && record.readers == nil)
        #expect(record.updatedAt == record.createdAt)
        for (action, data, condition, reason) in [
            (.put, #"{"a":2}"#, .none, .messageIDTaken), (.put, Self.data, .version([2]), .otherVersion),
            (.put, Self.data, .absent, .otherVersion), (.create, Self.data, .none, .taken),
            (.patch, Self.data, .none, .forbidden), (.delete, nil, .version([2]), .otherVersion),
        ] as [(RecordOperation.Action, String?, RecordOperation.Condition, RecordRefusal.Reason)] {
            let refusal = try scene.refusal {
                _ = try scene.outcome(action, "inbox", by: Scene.ada, data: data, condition: condition)
            }
            #expect(refusal == reason, "\(action) \(condition)")
        }
        switch try scene.outcome(.delete, "inbox", by: Scene.ada) {
        case .draft(let draft): #expect([.unread, .changed].contains(fate) && draft.content == nil)
        case .deletedBefore: #expect([.deleted, .usedAgain].contains(fate))
        case .sentBefore: Issue.record("a deletion answers nothing")
        }
    }

    @Test("Others learn that the id is used, and nothing else", arguments: Fate.allCases)
    func others(fate: Fate) throws {
        let scene = try Self.scene(fate)
        for (action, reason) in [
            (.create, .taken), (.put, .messageIDTaken), (.patch, .noRecord), (.delete, .noRecord),
        ] as [(RecordOperation.Action, RecordRefusal.Reason)] {
            let refusal = try scene.refusal {
                _ = try scene.outcome(action, "inbox", by: Scene.cleo, data: Self.data)
            }
            #expect(refusal == reason, "\(action)")
        }
    }

    @Test("A recipient who is disabled or blocks the sender gets no new messages; repeated ones are answered")
    func unreachable() throws {
        for isBlocking in [true, false] {
            var scene = try Self.scene(.deleted)
            if isBlocking { scene.blocking = [Scene.bob] } else { scene.disabled = [Scene.bob] }
            let planner = try scene.planner("inbox", by: Scene.ada)
            func isUnreachable(_ operation: RecordOperation) throws -> Bool {
                planner.isUnreachable(for: [try scene.prepared(operation, "inbox")])
            }
            #expect(try isUnreachable(RecordOperation(.create, id: nil, data: "{}")))
            #expect(try isUnreachable(RecordOperation(.put, id: "new", data: "{}")))
            #expect(try !isUnreachable(RecordOperation(.put, id: "r", data: "{}")))
            #expect(try !isUnreachable(RecordOperation(.delete, id: "r")))
        }
        var own = try Scene()
        own.blocking = [Scene.ada]
        let operation = try own.prepared(RecordOperation(.put, id: "r", data: "{}"), "inbox")
        #expect(try !own.planner("inbox", by: Scene.ada).isUnreachable(for: [operation]))
    }

    @Test("Sent bytes count for the sender, and bytes that the recipient adds for the recipient")
    func bytes() throws {
        var scene = try Self.scene(.unread)
        let longer = try scene.draft(.put, "inbox", by: Scene.bob, data: #"{"a":1,"b":2}"#)
        #expect(longer.charges == [StreamTable.Row(id: Scene.bob, byteCount: 6)])
        let deleted = try scene.draft(.delete, "inbox", by: Scene.bob)
        #expect(deleted.charges == [StreamTable.Row(id: Scene.bob, inboxCount: -1)])
        let new = try scene.draft(.put, "inbox", "new", by: Scene.ada, data: Self.data)
        #expect(
            new.charges == [
                StreamTable.Row(id: Scene.bob, inboxCount: 1),
                StreamTable.Row(id: Scene.ada, recordCount: 1, byteCount: 7),
            ]
        )
        // The recipient's own records count for the recipient alone, and are no messages.
        scene.inboxOf = nil
        let own = try scene.draft(.put, "inbox", "own", by: Scene.bob, data: Self.data)
        #expect(own.content?.sentDigest == nil && own.owner.streamID == Scene.bob)
        let sum = own.charges.reduce(into: StreamTable.Row(id: Scene.bob)) { sum, charge in
            sum.recordCount += charge.recordCount
            sum.inboxCount += charge.inboxCount
            sum.byteCount += charge.byteCount
        }
        #expect(sum == StreamTable.Row(id: Scene.bob, recordCount: 1, inboxCount: 1, byteCount: 7))
    }
}
