import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Glibc
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("kill -9 in the middle of batches of records", .timeLimit(.minutes(3)))
struct BatchCrashTests {
    @Test("All of a batch is there, or none, and each that was answered is there")
    func batches() async throws {
        try await ServedSelfie.run(settings: ["RATE_LIMITS": "off"]) { served in
            let service = served.service
            try await service.apply(try TestService.exampleSchema)
            let member = try await service.addMember("ada", role: "team")
            let answered = try await withThrowingTaskGroup(of: [String].self) { tasks in
                for writer in 0..<8 {
                    tasks.addTask {
                        var answered: [String] = []
                        // Until the process has ended.
                        for batch in 0..<1_000 {
                            let name = "w\(writer)b\(batch)"
                            let records = (0..<100).map { #"{"id":"\#(name)-\#($0)","data":{"name":"\#(name)"}}"# }
                            guard
                                let answer = try? await service.call(
                                    "POST",
                                    "/api/records/priorities",
                                    as: member,
                                    "[\(records.joined(separator: ","))]"
                                )
                            else { return answered }
                            #expect(answer.status == 200)
                            answered.append(name)
                        }
                        return answered
                    }
                }
                try await poll("some batches are written") {
                    try await service.count("SELECT count(*) FROM records") >= 500
                }
                served.process.signal(SIGKILL)
                return try await tasks.reduce(into: []) { $0 += $1 }
            }
            #expect(try await served.process.waitForExit() == 128 + SIGKILL)
            // PostgreSQL ends what the process had begun.
            try await poll("no transaction is left") {
                try await service.count(
                    """
                    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
                        AND xact_start IS NOT NULL
                    """
                ) == 0
            }
            let batches = try await service.postgres.read(
                "SELECT split_part(id, '-', 1) AS name, count(*) AS count FROM records GROUP BY 1"
            ).map { (name: try $0.decode("name", as: String.self), count: try $0.decode("count", as: Int.self)) }
            #expect(batches.count >= 5 && batches.allSatisfy { $0.count == 100 }, "\(batches)")
            #expect(Set(answered).isSubset(of: batches.map(\.name)))
            let numbers = try await service.count(
                "SELECT count(*) FROM grants JOIN streams ON streams.id = stream_id WHERE role_id IS NOT NULL AND rights % 2 = 1"
            )
            #expect(numbers == batches.count * 100)
            try await service.expectSoundStreams()
        }
    }
}
