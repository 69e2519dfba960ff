import Postgres
import RecordSchema
import ServiceTestSupport
import Testing

@testable import SelfiePhotos
@testable import SelfieRecords

@Suite("A schema that is applied while others write", .timeLimit(.minutes(2)))
struct SchemaLockTests {
    @Test("It gives up when writers hold locks for too long, changes nothing, and succeeds after they end")
    func busy() async throws {
        try await TestService.runWithSchema(#"{"collections":{"notes":{"access":"private"}}}"#) { service in
            let wide = try Schema(file: Array(#"{"collections":{"notes":{"access":"published"}}}"#.utf8))
            let apply = ApplySchema(postgres: service.postgres, lockTimeout: .milliseconds(100))
            let plan = try await apply.preview(wide).plan
            let count: PostgresQuery = "SELECT count(*) FROM schema_definitions"
            let before = try await service.count(count)
            try await service.postgres.withTransaction { connection in
                try await SchemaLock.share(on: connection)
                await #expect(throws: RecordsBusy.self) { try await apply(wide, as: plan, mayShowMore: true) }
            }
            #expect(try await service.count(count) == before)
            #expect(try await apply(wide, as: plan, mayShowMore: true) != nil)
            #expect(try await service.count(count) == before + 1)
            // The default limit.
            #expect(ApplySchema(postgres: service.postgres).lockTimeout == .seconds(10))
        }
    }
}
