import RecordSchema
import Testing

@testable import SelfieRecords

@Suite("Records that others belong to", .timeLimit(.minutes(1)))
struct ParentPlannerTests {
    private typealias Scene = PlannerScene

    private static let owner: Rights = [.read, .write, .delete, .share]
    private static let message = #"{"thread":"t"}"#

    private static func scene(last: String = "null") throws -> Scene {
        var scene = try Scene()
        try scene.add(
            "threads",
            "t",
            data: #"{"topic":"x","last":\#(last)}"#,
            rights: [1: owner, 2: [.read, .write], 3: [.read]]
        )
        return scene
    }

    @Test("A message without readers is for its thread's readers, if its author may write the thread")
    func inheritance() throws {
        var scene = try Self.scene()
        let bobs = try scene.draft(.create, "messages", nil, by: Scene.bob, data: Self.message)
        #expect(bobs.rights == [2: Self.owner, 1: [.read], 3: [.read]] && bobs.namedCount == 2)
        let cleos = try scene.draft(.create, "messages", nil, by: Scene.cleo, data: Self.message)
        #expect(cleos.rights == [3: Self.owner])
        let named = try scene.draft(.create, "messages", nil, by: Scene.bob, data: Self.message, readers: [])
        #expect(named.rights == [2: Self.owner])
        scene.blocking = [Scene.ada]
        scene.disabled = [Scene.cleo]
        #expect(try scene.draft(.create, "messages", nil, by: Scene.bob, data: Self.message).rights == [2: Self.owner])
    }

    @Test("A thread gets the id of the last of its new messages, if their author may write it")
    func last() throws {
        let scene = try Self.scene(last: #""old""#)
        func parents(of ids: [String], by number: Int) throws -> [RecordDraft] {
            let drafts = try ids.map { try scene.draft(.put, "messages", $0, by: number, data: Self.message) }
            return try scene.planner("messages", by: number).parents(of: drafts)
        }
        let changed = try parents(of: ["m1", "m2"], by: Scene.bob)
        #expect(changed.map(\.content?.data.text) == [#"{"topic":"x","last":"m2"}"#])
        #expect(changed[0].position == nil && changed[0].content?.newLinks.count == 1)
        #expect(changed[0].shownStreams == [1, 2, 3])
        #expect(try parents(of: ["m1"], by: Scene.cleo).isEmpty)
    }

    @Test("A thread that would exceed 64 KiB with the id refuses the message")
    func full() throws {
        let empty = #"{"last":"m"}"#.utf8.count + #","x":"""#.utf8.count
        for (bytes, isFull) in [(65_536, false), (65_537, true)] {
            var scene = try Scene()
            let data = #"{"last":null,"x":"\#(String(repeating: "x", count: bytes - empty))"}"#
            try scene.add("threads", "t", data: data, rights: [1: Self.owner])
            let refusal = try scene.refusal {
                let draft = try scene.draft(.put, "messages", "m", by: Scene.ada, data: Self.message)
                _ = try scene.planner("messages", by: Scene.ada).parents(of: [draft])
            }
            #expect(refusal == (isFull ? .invalid([RecordValidationError("thread", .parentFull)]) : nil))
        }
    }

    @Test("A thread whose last message is deleted names none; another one, and one that is deleted too, stay")
    func clearing() throws {
        var scene = try Self.scene(last: #""m1""#)
        try scene.add("messages", "m1", owner: Scene.bob, data: Self.message, rights: [2: Self.owner])
        try scene.add("messages", "m2", data: Self.message, rights: [1: Self.owner])
        let planner = try scene.planner("messages", by: Scene.bob)
        let first = try scene.draft(.delete, "messages", "m1", by: Scene.bob)
        #expect(try planner.parents(of: [first]).map(\.content?.data.text) == [#"{"topic":"x","last":null}"#])
        let second = try scene.draft(.delete, "messages", "m2", by: Scene.ada)
        #expect(try planner.parents(of: [second]).isEmpty)

        let thread = try #require(scene.records.values.first { $0.id == "t" })
        let gone = RecordDraft(of: thread, in: try scene.collection("threads"), nil)
        #expect(RecordPlanner.clearing([first, gone], in: [thread], scene.schema).isEmpty)
    }

    @Test("The field that new messages set can't be set by users, at the creation or later")
    func setFields() throws {
        var scene = try Self.scene(last: #""m1""#)
        let forged = #"{"last":"m2","topic":"y"}"#
        #expect(
            try scene.draft(.put, "threads", "new", by: Scene.ada, data: forged).content?.data.text == #"{"topic":"y"}"#
        )
        let kept = #"{"last":"m1","topic":"y"}"#
        #expect(try scene.draft(.put, "threads", "t", by: Scene.ada, data: forged).content?.data.text == kept)
        let patched = #"{"topic":"y","last":"m1"}"#
        #expect(try scene.draft(.patch, "threads", "t", by: Scene.ada, data: forged).content?.data.text == patched)
        try scene.add("threads", "t", rights: [1: Self.owner])
        #expect(
            try scene.draft(.put, "threads", "t", by: Scene.ada, data: forged).content?.data.text == #"{"topic":"y"}"#
        )
    }
}
