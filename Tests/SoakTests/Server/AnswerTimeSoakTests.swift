import ConnectionTestSupport
import NIOCore
import Postgres
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

@Suite("Requests that take too long to answer, in real time", .timeLimit(.minutes(2)))
struct AnswerTimeSoakTests {
    @Test("An upload that waits for a lock is answered 503 after 27 to 30 s, and ends with its connection")
    func upload() async throws {
        try await TestService.run(adjust: { service in
            service.configuration.postgres.statementTimeout = .seconds(120)
            service.sweepInterval = .seconds(3600)
            service.limits = ConnectionLimits()
        }) { service in
            let token = try await service.addSession()
            try await service.postgres.withConnection { connection in
                try await connection.execute(script: "BEGIN; LOCK TABLE photos IN ACCESS EXCLUSIVE MODE")
                let start = ContinuousClock.now
                let answer = try await service.upload(token: token)
                let time = start.duration(to: .now)
                #expect(answer.status == 503 && answer.headers["retry-after"] == "5")
                #expect(time >= .seconds(27) && time < .seconds(30))
                try await poll("its statement has ended", within: .seconds(10)) {
                    try await service.count(
                        """
                        SELECT count(*) FROM pg_stat_activity
                        WHERE datname = current_database() AND wait_event_type = 'Lock'
                        """
                    ) == 0
                }
                try await connection.execute(script: "ROLLBACK")
            }
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
        }
    }
}
