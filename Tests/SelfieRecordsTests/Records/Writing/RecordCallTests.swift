import FoundationEssentials
import JSON
import RecordSchema
import Testing

@testable import SelfieAccounts
@testable import SelfieRecords

@Suite("What counts as sent before a call is decided", .timeLimit(.minutes(1)))
struct RecordCallTests {
    private typealias Scene = PlannerScene

    private static func call(
        _ collection: String,
        inboxOf: String? = nil,
        _ operations: [RecordOperation]
    ) async throws -> RecordCall {
        let session = Session(
            id: 1,
            memberID: "ada",
            library: PhotoLibrary(userID: Scene.ada, version: .init(number: 0, changedAt: 0), urlSeries: 0),
            expiry: .distantFuture,
            maxUnusedDays: nil,
            writeCount: 0
        )
        return try await RecordCall(
            operations,
            in: RecordLocation(collection: collection, inboxOf: inboxOf),
            by: session,
            try Scene().schema,
            digests: SentDigests(secret: "secret")
        )
    }

    private static func name(_ collection: String, _ id: String) throws -> RecordName {
        RecordName(collectionID: try Scene().collection(collection).id, id: id)
    }

    @Test("Each message counts, and each newly named reader")
    func named() async throws {
        let messages =
            ["a", "b"].map { RecordOperation(.put, id: $0, data: "{}") } + [RecordOperation(.delete, id: "c")]
        #expect(try await Self.call("inbox", inboxOf: "bob", messages).maxSends([:]) == 2)

        let readers = ["ada", "bob", "cleo"]
        let created = RecordOperation(.create, id: "t", data: "{}", readers: readers, writers: ["cleo", "dan"])
        let call = try await Self.call("threads", [created])
        #expect(call.sharedRecords.isEmpty && call.maxSends([:]) == 3)

        let (first, second) = (try Self.name("threads", "t"), try Self.name("threads", "u"))
        let changed = try await Self.call(
            "threads",
            [
                RecordOperation(.patch, id: "t", readers: readers),
                RecordOperation(.put, id: "u", data: "{}", readers: []),
                RecordOperation(.patch, id: "v", data: "{}"),
            ]
        )
        #expect(changed.sharedRecords == [first: .share, second: .share])
        #expect(changed.maxSends([:]) == 2)
        #expect(changed.maxSends([first: ["ada", "bob"], second: ["ada", "dan"]]) == 1)
        #expect(try await Self.call("houses", [RecordOperation(.put, id: "h", data: "{}")]).maxSends([:]) == 0)
    }

    @Test(
        "A message without readers counts for each reader of its thread; a repeated one counts for none"
    )
    func inherited() async throws {
        let data = #"{"thread":"t"}"#
        let (thread, message) = (try Self.name("threads", "t"), try Self.name("messages", "m"))
        let created = try await Self.call("messages", [RecordOperation(.create, id: "m", data: data)])
        #expect(created.sharedRecords == [thread: .write])
        #expect(created.maxSends([thread: ["ada", "bob", "cleo"]]) == 2)
        #expect(created.maxSends([:]) == 0)

        let put = try await Self.call("messages", [RecordOperation(.put, id: "m", data: data)])
        #expect(put.sharedRecords == [thread: .write, message: .write])
        #expect(put.maxSends([thread: ["ada", "bob", "cleo"]]) == 2)
        #expect(put.maxSends([thread: ["ada", "bob", "cleo"], message: ["ada", "bob"]]) == 0)

        let named = try await Self.call("messages", [RecordOperation(.create, id: "m", data: data, readers: ["dan"])])
        #expect(named.sharedRecords.isEmpty && named.maxSends([:]) == 1)
    }

    @Test("A prepared operation holds no parsed data: that takes many times the memory of its text")
    func memory() throws {
        let scene = try PlannerScene()
        for action in [RecordOperation.Action.create, .put, .patch] {
            let operation = RecordOperation(action, id: "r", data: #"{"address":"a","photo":null}"#)
            #expect(!Self.holdsJSON(try scene.prepared(operation, "houses")), "\(action)")
        }
        #expect(Self.holdsJSON([Optional(JSONValue.null)]))
    }

    private static func holdsJSON(_ value: Any) -> Bool {
        value is JSONValue || Mirror(reflecting: value).children.contains { holdsJSON($0.value) }
    }
}
