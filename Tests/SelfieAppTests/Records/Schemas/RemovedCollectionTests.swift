import ConnectionTestSupport
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("A schema whose collections and roles are removed", .timeLimit(.minutes(3)))
struct RemovedCollectionTests {
    private static let thread = "/api/records/threads/t1"

    /// Makes a record in several collections, and a photo that one of them shows.
    private static func fill(_ service: TestService, as member: TestMember) async throws {
        let photoID = try await service.uploadUnlisted(as: member).id
        for (path, data) in [
            ("houses/h1", #"{"address":"a","photo":"\#(photoID)"}"#), ("priorities/p1", #"{"name":"P"}"#),
            ("bugs/b1", #"{"title":"t","priority":"p1"}"#), ("inbox/i1", "{}"),
        ] {
            let made = try await service.call("PUT", "/api/records/\(path)", as: member, #"{"data":\#(data)}"#)
            #expect(made.status == 200, "\(made.text)")
        }
    }

    /// Shares a thread with two others, takes the second off, and sends each a message.
    private static func share(_ service: TestService, as ada: TestMember, with others: [TestMember]) async throws {
        let readers = others.map { "\"\($0.id)\"" }.joined(separator: ",")
        for (method, target, body) in [
            ("PUT", thread, #"{"data":{},"readers":[\#(readers)]}"#),
            ("PATCH", thread, #"{"readers":["\#(others[0].id)"]}"#),
            ("PUT", "/api/members/\(others[0].id)/records/inbox/m1", #"{"data":{"text":"hello"}}"#),
            ("PUT", "/api/members/\(others[1].id)/records/inbox/m2", #"{"data":{"text":"hello"}}"#),
        ] {
            let answer = try await service.call(method, target, as: ada, body)
            #expect(answer.status == 200, "\(answer.text)")
        }
        #expect(try await service.call("GET", thread, as: others[0]).status == 200)
        #expect(try await service.call("GET", thread, as: others[1]).status == 404)
    }

    /// How many of a member's records another one's stream shows, as it is counted: all, and those that are messages.
    private static func shown(
        _ service: TestService,
        to reader: TestMember,
        of author: TestMember
    ) async throws -> [Int] {
        let rows = try await service.postgres.read(
            """
            SELECT stream_authors.record_count::bigint AS records, stream_authors.inbox_count::bigint AS messages
            FROM stream_authors JOIN streams ON streams.id = stream_id
            WHERE user_id = \(reader.userID) AND author_id = \(author.userID)
            """
        )
        return try rows.flatMap { [try $0.decode("records", as: Int.self), try $0.decode("messages", as: Int.self)] }
    }

    @Test("A role that is removed and added again has no members, and a collection no records")
    func removedAndAdded() async throws {
        try await TestService.runTwoWithSchema { first, second in
            let ada = try await first.addMember("ada", role: "team")
            let (bob, cleo) = (try await first.addMember("bob"), try await first.addMember("cleo"))
            try await Self.fill(first, as: ada)
            try await Self.share(first, as: ada, with: [bob, cleo])
            #expect(try await Self.shown(first, to: bob, of: ada) == [2, 1])
            #expect(try await Self.shown(first, to: cleo, of: ada) == [1, 1])
            // What Cleo no longer sees is still there as a row, which is not to be counted.
            let ended = try await first.count(
                """
                SELECT count(*) FROM grants JOIN streams ON streams.id = stream_id
                WHERE user_id = \(cleo.userID) AND rights = 0
                """
            )
            #expect(ended == 1)
            try await first.expectSoundStreams("before")

            try await first.apply(#"{"roles":{},"collections":{"news":{"access":"published"}}}"#)
            for path in ["houses/h1", "bugs/b1", "inbox/i1", "threads/t1"] {
                let gone = try await second.call("GET", "/api/records/\(path)", as: ada)
                #expect(gone.status == 404 && gone.code == "collection_not_found", "\(gone.text)")
            }
            #expect(try await first.count("SELECT count(*) FROM records") == 0)
            #expect(try await first.count("SELECT count(*) FROM grants WHERE collection_id > 0") == 0)
            try await first.expectSoundStreams("removed")
            try await poll("the photo went with its last record") { first.objects.keys().isEmpty }

            try await first.apply(try TestService.exampleSchema)
            #expect(try await second.ids("houses", as: ada).isEmpty)
            #expect(try await second.call("GET", "/api/records/bugs", as: ada).status == 404)
            try await first.add(ada.userID, to: "team")
            #expect(try await second.ids("bugs", as: ada).isEmpty)
            #expect(try await second.call("GET", "/api/records/priorities/p1", as: ada).status == 404)
            try await first.expectSoundStreams("added again")
        }
    }
}
