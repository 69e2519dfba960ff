import ConnectionTestSupport
import Foundation
import Postgres
import SelfieCore
import SelfieRecords
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

/// Notifies tasks of an event.
private final class SharedFlag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock(\.self) }

    func set() { value.withLock { $0 = true } }
}

@Suite("A schema that changes below its records", .timeLimit(.minutes(3)))
struct ApplySchemaTests {
    /// A schema file with some collections, and the roles `team` and `leads`.
    private static func schema(_ collections: String, leadsManage: String = #""team""#) -> String {
        #"{"roles":{"team":{},"leads":{"manages":[\#(leadsManage)]}},"collections":{\#(collections)}}"#
    }

    private static let privateNotes = schema(#""notes":{"access":"private"}"#)
    private static let publishedNotes = schema(#""notes":{"access":"published"}"#)
    private static let sharedNotes = schema(#""notes":{"access":"shared","role":"team"}"#)

    private static func put(
        _ id: String,
        _ service: TestService,
        as member: TestMember,
        data: String = #"{"a":1}"#
    ) async throws {
        let answer = try await service.call("PUT", "/api/records/notes/\(id)", as: member, #"{"data":\#(data)}"#)
        #expect(answer.status == 200, "\(answer.text)")
    }

    /// Expects that a writer of one record after another is never refused, until it is stopped.
    private static func write(_ service: TestService, as member: TestMember, until isDone: SharedFlag) async throws {
        var round = 0
        while !isDone.isSet {
            let path = "notes/\(member.name)-\(round % 5)"
            for method in round % 4 == 3 ? ["PUT", "GET", "DELETE"] : ["PUT", "GET"] {
                let status = try await status(method, path, service, as: member)
                #expect(status == 200, "\(method)")
            }
            round += 1
        }
    }

    private static func status(
        _ method: String,
        _ path: String,
        _ service: TestService,
        as member: TestMember
    ) async throws -> Int {
        let body = ["PUT", "PATCH"].contains(method) ? #"{"data":{"b":2}}"# : nil
        return try await service.call(method, "/api/records/\(path)", as: member, body).status
    }

    @Test("Records that are published are everybody's, and their owner's again afterwards, on every process at once")
    func published() async throws {
        try await TestService.runTwoWithSchema(Self.privateNotes) { first, second in
            try await first.postgres.logNumbers()
            let (ada, eve) = (try await first.addMember("ada"), try await first.addMember("eve"))
            for id in ["n1", "n2"] { try await Self.put(id, first, as: ada) }
            for service in [first, second] {
                #expect(try await Self.status("GET", "notes/n1", service, as: eve) == 404)
                #expect(try await service.ids("notes", as: eve).isEmpty)
            }
            try await first.apply(Self.publishedNotes)
            for service in [second, first] {
                #expect(try await service.ids("notes", as: eve) == ["n1", "n2"])
                #expect(try await Self.status("PATCH", "notes/n1", service, as: eve) == 403)
            }
            #expect(try await Self.status("PATCH", "notes/n1", second, as: ada) == 200)
            try await first.expectSoundStreams("published")

            try await first.apply(Self.privateNotes)
            for service in [second, first] {
                #expect(try await Self.status("GET", "notes/n1", service, as: eve) == 404)
                #expect(try await service.ids("notes", as: eve).isEmpty)
                #expect(try await service.ids("notes", as: ada) == ["n1", "n2"])
            }
            // The feed of all members has their deletions.
            let ended = try await first.count(
                """
                SELECT count(*) FROM grants JOIN streams ON streams.id = stream_id AND streams.collection_id IS NOT NULL
                WHERE rights = 0 AND grants.seq > 0 AND shown_seq IS NULL AND ended_at IS NOT NULL
                """
            )
            #expect(ended == 2)
            try await first.expectNumbersWithoutGap()
            try await first.expectSoundStreams("private again")
        }
    }

    @Test("Shared records follow their role, and the roles that manage it")
    func shared() async throws {
        try await TestService.runTwoWithSchema(Self.privateNotes) { first, second in
            try await first.postgres.logNumbers()
            let (ada, bob) = (
                try await first.addMember("ada", role: "team"), try await first.addMember("bob", role: "team")
            )
            let (lea, eve) = (try await first.addMember("lea", role: "leads"), try await first.addMember("eve"))
            for id in ["n1", "n2", "n3"] { try await Self.put(id, first, as: ada) }
            try await first.apply(Self.sharedNotes)
            #expect(try await second.ids("notes", as: bob) == ["n1", "n2", "n3"])
            #expect(try await Self.status("PATCH", "notes/n1", second, as: bob) == 200)
            #expect(try await Self.status("DELETE", "notes/n1", second, as: bob) == 403)
            #expect(try await Self.status("GET", "notes/n1", second, as: eve) == 404)
            #expect(try await Self.status("DELETE", "notes/n1", second, as: lea) == 200)

            // A former manager of the role has no rights to its records.
            try await first.apply(Self.schema(#""notes":{"access":"shared","role":"team"}"#, leadsManage: ""))
            #expect(try await Self.status("DELETE", "notes/n2", second, as: lea) == 404)
            #expect(try await second.ids("notes", as: bob) == ["n2", "n3"])
            try await first.apply(Self.sharedNotes)
            #expect(try await Self.status("DELETE", "notes/n2", second, as: lea) == 200)

            try await first.apply(Self.privateNotes)
            #expect(try await Self.status("GET", "notes/n3", second, as: bob) == 404)
            #expect(try await second.ids("notes", as: ada) == ["n3"])
            try await first.expectNumbersWithoutGap()
            try await first.expectSoundStreams()
        }
    }

    @Test("Readers and writers that were named lose a record with its access list")
    func acl() async throws {
        try await TestService.runWithSchema(Self.schema(#""notes":{"access":"acl"}"#)) { service in
            try await service.postgres.logNumbers()
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let made = try await service.call(
                "PUT",
                "/api/records/notes/n1",
                as: ada,
                #"{"data":{},"writers":["\#(bob.id)"]}"#
            )
            #expect(made.status == 200, "\(made.text)")
            #expect(try await Self.status("PATCH", "notes/n1", service, as: bob) == 200)
            try await service.apply(Self.privateNotes)
            #expect(try await Self.status("GET", "notes/n1", service, as: bob) == 404)
            #expect(try await Self.status("PATCH", "notes/n1", service, as: bob) == 404)
            #expect(try await service.ids("notes", as: ada) == ["n1"])
            try await service.expectNumbersWithoutGap()
            try await service.expectSoundStreams()
        }
    }

    @Test("Indexes and references of records that were there before hold as those of new ones")
    func fields() async throws {
        try await TestService.runTwoWithSchema(
            Self.schema(#""notes":{"access":"private"},"targets":{"access":"private"}"#)
        ) { first, second in
            let ada = try await first.addMember("ada")
            for id in ["t1", "t2"] {
                #expect(try await Self.status("PUT", "targets/\(id)", first, as: ada) == 200)
            }
            try await Self.put("n1", first, as: ada, data: #"{"city":"Rome","target":"t1"}"#)
            try await Self.put("n2", first, as: ada, data: #"{"city":"Oslo","target":"nowhere"}"#)
            try await Self.put("n3", first, as: ada, data: #"{"city":7}"#)
            let rome = "&where=\(#"{"city":"Rome"}"#.formEncoded)"
            #expect(try await Self.status("GET", "notes?\(rome.dropFirst())", second, as: ada) == 400)
            #expect(try await Self.status("DELETE", "targets/t2", second, as: ada) == 200)

            let report = try await first.apply(
                Self.schema(
                    """
                    "notes":{"access":"private","indexes":["city"],"fields":{
                        "city":{"type":"string"},"target":{"type":"reference","to":"targets"}}},
                    "targets":{"access":"private"}
                    """
                )
            )
            #expect(report.misfits.map(\.collection) == ["notes"] && report.misfits.map(\.count) == [1])
            for service in [second, first] {
                #expect(try await service.ids("notes", as: ada, query: rome) == ["n1"])
                let refused = try await service.call("DELETE", "/api/records/targets/t1", as: ada)
                #expect(refused.status == 409 && refused.code == "record_referred_to")
            }
            // A record that breaks the new rules is read as it is, and a change must correct it.
            #expect(try await second.call("GET", "/api/records/notes/n3", as: ada).data["city"] as? Int == 7)
            let wrong = try await second.call("PATCH", "/api/records/notes/n3", as: ada, #"{"data":{"target":null}}"#)
            #expect(wrong.status == 400 && wrong.message?.contains("city") == true, "\(wrong.text)")
            let right = try await second.call("PATCH", "/api/records/notes/n3", as: ada, #"{"data":{"city":"Rome"}}"#)
            #expect(right.status == 200)
            #expect(try await first.ids("notes", as: ada, query: rome) == ["n1", "n3"])
            let new = try await second.call("POST", "/api/records/notes", as: ada, #"{"data":{"town":"Rome"}}"#)
            #expect(new.status == 400 && new.message?.contains("town") == true)

            try await first.apply(Self.schema(#""notes":{"access":"private"},"targets":{"access":"private"}"#))
            #expect(try await Self.status("GET", "notes?\(rome.dropFirst())", second, as: ada) == 400)
            #expect(try await Self.status("DELETE", "targets/t1", second, as: ada) == 200)
            #expect(try await first.count("SELECT count(*) FROM record_index") == 0)
            try await first.expectSoundStreams()
        }
    }

    @Test("16 writers at two processes succeed while the access changes again and again")
    func writers() async throws {
        try await TestService.runTwoWithSchema(Self.privateNotes) { first, second in
            try await first.postgres.logNumbers()
            var members: [TestMember] = []
            for number in 0..<16 { members.append(try await first.addMember("member\(number)", role: "team")) }
            let isDone = SharedFlag()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                // After an error, too, the writers must end.
                defer { isDone.set() }
                for (number, member) in members.enumerated() {
                    tasks.addTask {
                        try await Self.write(number % 2 == 0 ? first : second, as: member, until: isDone)
                    }
                }
                for schema in [Self.publishedNotes, Self.privateNotes, Self.sharedNotes, Self.publishedNotes] {
                    try await first.apply(schema)
                    try await poll("some more records are written") {
                        let before = try await first.count("SELECT sum(seq)::bigint AS count FROM streams")
                        try await Task.sleep(for: .milliseconds(200))
                        return try await first.count("SELECT sum(seq)::bigint AS count FROM streams") > before
                    }
                }
                isDone.set()
                try await tasks.waitForAll()
            }
            let eve = try await first.addMember("eve")
            let there = try await first.count("SELECT count(*) FROM records WHERE deleted_at IS NULL")
            #expect(there > 16)
            #expect(try await second.ids("notes", as: eve).count == there)
            try await first.expectNumbersWithoutGap()
            try await first.expectSoundStreams()
        }
    }
    @Test("A record that is being written while the access changes has the new access")
    func meanwhile() async throws {
        try await TestService.runWithSchema(Self.privateNotes) { service in
            let (ada, eve) = (try await service.addMember("ada"), try await service.addMember("eve"))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                try await service.postgres.withTransaction { connection in
                    try await connection.execute("SELECT FROM streams WHERE user_id = \(ada.userID) FOR UPDATE")
                    tasks.addTask {
                        // Without an id, nothing of the records is locked before.
                        let made = try await service.call("POST", "/api/records/notes", as: ada, #"{"data":{}}"#)
                        #expect(made.status == 200, "\(made.text)")
                    }
                    try await service.waitForLocks(1)
                    tasks.addTask { try await service.apply(Self.publishedNotes) }
                    try await service.waitForLocks(2)
                }
                try await tasks.waitForAll()
            }
            #expect(try await service.ids("notes", as: eve).count == 1)
            try await service.expectSoundStreams()
        }
    }
}
