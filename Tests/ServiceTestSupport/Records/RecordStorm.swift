import ConnectionTestSupport
import Foundation
package import Postgres
import TestSupport
import Testing

/// Writers who change records of streams that they share, at two services.
package struct RecordStorm: Sendable {
    /// How long they write.
    let seconds: Int

    /// - Parameter seconds: How long they write.
    package init(seconds: Int) {
        self.seconds = seconds
    }

    /// Runs the storm, and expects that nothing failed, and that no number of a stream is missing or there twice.
    package func run() async throws {
        try await TestService.runTwoWithSchema { first, second in
            try await first.postgres.logNumbers()
            var members: [TestMember] = []
            for number in 0..<20 { members.append(try await first.addMember("member\(number)", role: "team")) }
            let (all, deadline) = (members, ContinuousClock.now + .seconds(seconds))
            let statuses = try await withThrowingTaskGroup(of: [Int: Int].self) { tasks in
                for writer in 0..<16 {
                    tasks.addTask {
                        var statuses: [Int: Int] = [:]
                        var generator = SplitMix64(seed: UInt64(writer))
                        while ContinuousClock.now < deadline {
                            let answer = try await Self.write(
                                as: all[writer],
                                among: all,
                                at: writer % 2 == 0 ? first : second,
                                &generator
                            )
                            statuses[answer.status, default: 0] += 1
                        }
                        return statuses
                    }
                }
                return try await tasks.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
            }
            #expect(Set(statuses.keys).isSubset(of: [200, 404, 409]), "\(statuses)")
            #expect((statuses[200] ?? 0) > 5 * seconds, "\(statuses)")
            let deadlocks = try await first.count(
                "SELECT deadlocks AS count FROM pg_stat_database WHERE datname = current_database()"
            )
            #expect(deadlocks == 0)
            try await first.expectNumbersWithoutGap()
            try await first.expectSoundStreams()
        }
    }

    private static func write(
        as member: TestMember,
        among all: [TestMember],
        at service: TestService,
        _ generator: inout SplitMix64
    ) async throws -> HTTPAnswer {
        let id = "r\(Int.random(in: 0..<12, using: &generator))"
        let readers = (0..<4).map { _ in "\"\(all[Int.random(in: 0..<20, using: &generator)].id)\"" }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1:
            // Several at once, each with readers of its own.
            let records = (0..<5).map { _ in #"{"data":{},"readers":[\#(readers.joined(separator: ","))]}"# }
            return try await service.call(
                "POST",
                "/api/records/threads",
                as: member,
                "[\(records.joined(separator: ","))]"
            )
        case 2:
            return try await service.call("PUT", "/api/records/priorities/\(id)", as: member, #"{"data":{"name":"x"}}"#)
        case 3:
            return try await service.call(
                "PATCH",
                "/api/records/priorities",
                as: member,
                #"[{"id":"\#(id)","data":{"rank":1}}]"#
            )
        case 4:
            return try await service.call(
                "POST",
                "/api/records/bugs",
                as: member,
                #"{"data":{"title":"x","priority":"\#(id)"}}"#
            ).orMissingReference
        case 5: return try await service.call("DELETE", "/api/records/priorities/\(id)", as: member).orForbidden
        case 6:
            return try await service.call(
                "PUT",
                "/api/records/news/\(member.name)\(id)",
                as: member,
                #"{"data":{"title":"x"}}"#
            )
        default:
            let recipient = all[Int.random(in: 0..<20, using: &generator)]
            return try await service.call(
                "POST",
                "/api/members/\(recipient.id)/records/inbox",
                as: member,
                #"{"data":{}}"#
            )
        }
    }
}

extension HTTPAnswer {
    /// What is not there at this moment counts as not found.
    fileprivate var orMissingReference: HTTPAnswer {
        status == 400 && code == "record_invalid" ? HTTPAnswer(status: 404, headers: headers, body: body) : self
    }

    /// What belongs to another member of the role counts as not found.
    fileprivate var orForbidden: HTTPAnswer {
        status == 403 ? HTTPAnswer(status: 404, headers: headers, body: body) : self
    }
}

extension PostgresClient {
    /// Notes each number that a grant gets from now on.
    package func logNumbers() async throws {
        try await withConnection { connection in
            try await connection.execute(
                script: """
                    CREATE TABLE numbers (stream_id bigint, seq bigint);
                    CREATE FUNCTION note_number() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN
                        IF NEW.seq IS NOT NULL AND (TG_OP = 'INSERT' OR NEW.seq IS DISTINCT FROM OLD.seq) THEN
                            INSERT INTO numbers VALUES (NEW.stream_id, NEW.seq);
                        END IF;
                        RETURN NULL;
                    END
                    $$;
                    CREATE TRIGGER numbers AFTER INSERT OR UPDATE ON grants FOR EACH ROW EXECUTE FUNCTION note_number();
                    """
            )
        }
    }
}

extension TestService {
    /// Expects that the numbers that were noted are 1, 2, 3… in each stream, and end at its own.
    package func expectNumbersWithoutGap() async throws {
        let wrong = try await count(
            """
            SELECT count(*) FROM streams LEFT JOIN (
                SELECT stream_id, count(*) AS noted, count(DISTINCT seq) AS different, max(seq) AS last
                FROM numbers GROUP BY stream_id
            ) AS numbers ON stream_id = streams.id
            WHERE seq <> coalesce(noted, 0) OR seq <> coalesce(different, 0) OR seq <> coalesce(last, 0)
            """
        )
        #expect(wrong == 0)
        #expect(try await count("SELECT count(*) FROM numbers") > 0)
    }
}
