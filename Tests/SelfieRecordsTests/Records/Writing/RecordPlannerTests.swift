import Encodings
import RecordSchema
import Testing

@testable import SelfieRecords

@Suite("Decisions about records", .timeLimit(.minutes(1)))
struct RecordPlannerTests {
    private typealias Scene = PlannerScene

    @Test("A new record gives rights by the table of its collection's access, and is shown to its readers")
    func newRecords() throws {
        var scene = try Scene()
        scene.roleIDs = [11]
        scene.inboxOf = Scene.bob
        let own: Rights = [.read, .write, .delete]
        let expected: [String: ([Int: Rights], shown: Set<Int>)] = [
            "houses": ([Scene.ada: own], [Scene.ada]),
            "threads": ([Scene.ada: [.read, .write, .delete, .share]], [Scene.ada]),
            "inbox": ([Scene.bob: own, Scene.ada: [.delete]], [Scene.bob]),
            "bugs": (
                [Scene.team: [.read, .write], Scene.leads: [.delete], Scene.ada: [.delete]], [Scene.team]
            ),
            "news": ([106: [.read], Scene.ada: [.write, .delete]], [106]),
        ]
        for (collection, (rights, shown)) in expected {
            for action in [RecordOperation.Action.create, .put] {
                let draft = try scene.draft(action, collection, by: Scene.ada)
                #expect(draft.rights == rights, "\(collection)")
                #expect(draft.shownStreams == shown, "\(collection)")
                #expect(draft.existing == nil && draft.owner == Scene.member(Scene.ada))
            }
        }
    }

    /// Who may change and delete an existing record, and the changes that others get.
    @Test("Without a right to a record, it is 404; with another right, the call is refused")
    func rights() throws {
        var scene = try Scene()
        let table: [(String, [Int: Rights], roles: Set<Int>, by: Int, change: String, delete: String)] = [
            ("houses", [1: [.read, .write, .delete]], [], 1, "yes", "yes"),
            ("houses", [1: [.read, .write, .delete]], [], 2, "none", "none"),
            ("threads", [1: [.read, .write, .delete, .share], 2: [.read]], [], 2, "no", "leaves"),
            ("threads", [1: [.read, .write, .delete, .share], 2: [.read, .write]], [], 2, "yes", "no"),
            ("threads", [1: [.read, .write, .delete, .share], 2: []], [], 2, "none", "none"),
            ("bugs", [1: [.delete], 21: [.read, .write], 22: [.delete]], [11], 2, "yes", "no"),
            ("bugs", [1: [.delete], 21: [.read, .write], 22: [.delete]], [11], 1, "yes", "yes"),
            ("bugs", [1: [.delete], 21: [.read, .write], 22: [.delete]], [12], 2, "no", "yes"),
            ("news", [1: [.write, .delete], 106: [.read]], [], 1, "yes", "yes"),
            ("news", [1: [.write, .delete], 106: [.read]], [], 2, "no", "no"),
        ]
        for (collection, rights, roles, number, change, delete) in table {
            scene.roleIDs = roles
            try scene.add(collection, rights: rights)
            for (action, expected) in [
                (RecordOperation.Action.put, change), (.patch, change), (.delete, delete),
            ] {
                let comment: Comment = "\(collection) \(action) by \(number)"
                let refusal = try scene.refusal {
                    let draft = try scene.draft(action, collection, by: number)
                    #expect((draft.content == nil) == (expected == "yes" && action == .delete), comment)
                }
                #expect(refusal == ["none": .noRecord, "no": .forbidden][expected], comment)
            }
            #expect(try scene.refusal { _ = try scene.draft(.create, collection, by: number) } == .taken)
        }
    }

    @Test(
        "A role's collection is 404 without the role or a managing one; managers create no records"
    )
    func roles() throws {
        var scene = try Scene()
        let bugs = try scene.collection("bugs")
        for (roles, isRefused) in [([], true), ([11], false), ([12], false)] as [(Set<Int>, Bool)] {
            scene.roleIDs = roles
            let author = scene.author(Scene.ada)
            #expect((try scene.refusal { try author.requireRole(in: bugs) } == .noCollection) == isRefused)
        }
        scene.roleIDs = [12]
        #expect(try scene.refusal { _ = try scene.draft(.create, "bugs", by: Scene.ada) } == .noCollection)
    }

    @Test("A missing record can be put and created, and nothing else")
    func absent() throws {
        let scene = try Scene()
        for (action, condition, reason) in [
            (.patch, .none, .noRecord), (.delete, .none, .noRecord), (.put, .exists, .noRecord),
            (.put, .version([1]), .noRecord), (.put, .absent, nil),
        ] as [(RecordOperation.Action, RecordOperation.Condition, RecordRefusal.Reason?)] {
            let refusal = try scene.refusal {
                _ = try scene.outcome(action, "houses", by: Scene.ada, condition: condition)
            }
            #expect(refusal == reason, "\(action) \(condition)")
        }
    }

    @Test("A version that is not the record's, and a time that is not in the future, are refused")
    func conditions() throws {
        var scene = try Scene()
        try scene.add("houses", rights: [Scene.ada: [.read, .write, .delete]])
        for (condition, reason) in [
            (.absent, .otherVersion), (.version([6, 8]), .otherVersion), (.version([7]), nil), (.exists, nil),
        ] as [(RecordOperation.Condition, RecordRefusal.Reason?)] {
            for action in [RecordOperation.Action.put, .patch, .delete] {
                let refusal = try scene.refusal {
                    _ = try scene.outcome(action, "houses", by: Scene.ada, condition: condition)
                }
                #expect(refusal == reason, "\(action) \(condition)")
            }
        }
        let now = 1_795_514_400_000
        for (time, reason) in [(now, .invalidExpiry), (now + 1, nil)] as [(Int, RecordRefusal.Reason?)] {
            let refusal = try scene.refusal {
                let draft = try scene.draft(
                    .patch,
                    "houses",
                    by: Scene.ada,
                    expiry: .at(Timestamp(milliseconds: time))
                )
                #expect(draft.endsExisting && draft.content?.expiresAt?.milliseconds == time)
            }
            #expect(refusal == reason)
        }
    }

    @Test("Only members who may delete a record set its expiry; the same expiry is not a change")
    func ends() throws {
        var scene = try Scene()
        let end = Timestamp(milliseconds: 1_795_600_000_000)
        let all: Rights = [.read, .write, .delete, .share]
        try scene.add("threads", expiresAt: end, rights: [Scene.ada: all, Scene.bob: [.read, .write]])
        let same = try scene.draft(.put, "threads", by: Scene.bob, expiry: .at(end))
        #expect(!same.endsExisting && same.content?.expiresAt == end)
        for expiry in [RecordOperation.Expiry.never, .at(Timestamp(milliseconds: end.milliseconds + 1))] {
            let refusal = try scene.refusal { _ = try scene.draft(.patch, "threads", by: Scene.bob, expiry: expiry) }
            #expect(refusal == .forbidden)
            #expect(try scene.draft(.patch, "threads", by: Scene.ada, expiry: expiry).content != nil)
        }
    }

    @Test(
        "New readers and writers are enabled members who do not block the author; present ones stay"
    )
    func naming() throws {
        var scene = try Scene()
        let draft = try scene.draft(
            .create,
            "threads",
            by: Scene.ada,
            readers: ["bob", "ada"],
            writers: ["cleo"]
        )
        let owner: Rights = [.read, .write, .delete, .share]
        #expect(draft.rights == [1: owner, 2: [.read], 3: [.read, .write]])
        #expect(draft.namedCount == 2)
        let shown = draft.stored(for: scene.author(Scene.ada), version: 1, photos: [])
        #expect(shown?.readers == ["bob", "cleo"] && shown?.writers == ["cleo"])

        scene.blocking = [Scene.bob]
        scene.disabled = [Scene.cleo]
        for name in ["bob", "cleo", "nobody"] {
            let refusal = try scene.refusal { _ = try scene.draft(.put, "threads", by: Scene.ada, readers: [name]) }
            #expect(refusal == .unknownReader, "\(name)")
        }
        #expect(try scene.refusal { _ = try scene.draft(.put, "houses", by: Scene.ada, readers: []) } == .notShared)

        try scene.add("threads", rights: [1: owner, 2: [.read, .write], 3: [.read]])
        let again = try scene.draft(.patch, "threads", by: Scene.ada, readers: ["bob", "cleo", "dan"])
        #expect(again.rights == [1: owner, 2: [.read, .write], 3: [.read], 4: [.read]] && again.namedCount == 1)
        let fewer = try scene.draft(.patch, "threads", by: Scene.ada, writers: [])
        #expect(fewer.rights == [1: owner, 2: [.read], 3: [.read]] && fewer.namedCount == 0)
        let none = try scene.draft(.patch, "threads", by: Scene.ada, readers: [], writers: [])
        #expect(none.rights == [1: owner])
        #expect(try scene.refusal { _ = try scene.draft(.patch, "threads", by: Scene.bob, readers: []) } == .forbidden)
    }

    @Test("A reader who leaves loses only the own grant, and members who share the record get the change")
    func leaving() throws {
        var scene = try Scene()
        let all: Rights = [.read, .write, .delete, .share]
        try scene.add("threads", data: #"{"a":1}"#, rights: [1: all, 2: [.read], 3: [.read]])
        let draft = try scene.draft(.delete, "threads", by: Scene.bob)
        #expect(draft.rights == [1: all, 3: [.read]] && draft.shownStreams == [1, 2])
        #expect(draft.content?.data.text == #"{"a":1}"# && draft.charges.isEmpty)
    }

    @Test(
        "A change is not shown to members who block its author; deletions and changed rights are"
    )
    func blocked() throws {
        var scene = try Scene()
        let all: Rights = [.read, .write, .delete, .share]
        var record = try scene.add("threads", rights: [1: all, 2: [.read], 3: [.read]])
        record.grants[Scene.bob]?.blockedIDs = [Scene.ada]
        scene.records[record.name] = record
        #expect(try scene.draft(.patch, "threads", by: Scene.ada).shownStreams == [1, 3])
        #expect(try scene.draft(.patch, "threads", by: Scene.ada, readers: ["cleo"]).shownStreams == [1, 2, 3])
        #expect(try scene.draft(.delete, "threads", by: Scene.ada).shownStreams == [1, 2, 3])
    }

    @Test("References that are as they were stay; others are to be found")
    func references() throws {
        var scene = try Scene()
        try scene.add("houses", data: #"{"near":"a","photo":"p"}"#, rights: [1: [.read, .write, .delete]])
        let same = try scene.draft(.put, "houses", by: Scene.ada, data: #"{"photo":"p","near":"a","address":"x"}"#)
        #expect(same.content?.newLinks.isEmpty == true && same.content?.data.links.count == 2)
        let other = try scene.draft(.patch, "houses", by: Scene.ada, data: #"{"near":"b"}"#)
        #expect(other.content?.newLinks.map(\.target) == [.record(id: "b", collection: "houses")])
        let new = try scene.draft(.put, "houses", "new", by: Scene.ada, data: #"{"near":"a"}"#)
        #expect(new.content?.newLinks.count == 1)
    }

    @Test("Data that breaks the rules is refused where somebody may write, and hidden before everybody else")
    func invalidData() throws {
        var scene = try Scene()
        try scene.add("houses", rights: [Scene.ada: [.read, .write, .delete]])
        let invalid = RecordRefusal.Reason.invalid([RecordValidationError("x", .unknown)])
        for (id, number, reason) in [("r", 1, invalid), ("r", 2, .noRecord), ("new", 2, invalid)] {
            let refusal = try scene.refusal {
                _ = try scene.draft(.put, "houses", id, by: number, data: #"{"x":1}"#)
            }
            #expect(refusal == reason)
        }
        #expect(try scene.refusal { _ = try scene.draft(.patch, "houses", by: 1, data: #"{"x":1}"#) } == invalid)
    }
}
