import ConnectionTestSupport
import Postgres
package import ServerProcesses
package import TestSupport
import Testing

/// What may happen to the server of a bucket.
package enum StoreOutage: CaseIterable, Sendable {
    case killed, halted

    package func begin(_ server: RcloneServer) async throws {
        switch self {
        case .killed: server.kill()
        case .halted: try await server.suspend()
        }
    }

    package func end(_ server: RcloneServer) async throws {
        switch self {
        case .killed: try await server.restart()
        case .halted: server.resume()
        }
    }

    /// Takes the store of a user with two photos away and gives it back, and expects each call to do what it can.
    ///
    /// - Parameters:
    ///   - service: The service, with a server of its own.
    ///   - token: The user's.
    ///   - kept: The id of the photo that stays.
    ///   - deleted: The id of the photo that is deleted meanwhile.
    ///   - maxAnswer: Within which each call is answered; nil where time does not count.
    ///   - time: The time of calls to the store, which passes only while it is away; nil for the system's.
    ///   - maxReturn: Within which the store, once it is back, is used again.
    /// - Throws: `NotInTime`, or what a connection throws.
    package func expectOutlived(
        by service: TestService,
        token: String,
        kept: String,
        deleted: String,
        maxAnswer: Duration? = nil,
        time: ManualTime? = nil,
        maxReturn: Duration = .seconds(60)
    ) async throws {
        @Sendable func answer(_ send: @escaping @Sendable () async throws -> HTTPAnswer) async throws -> HTTPAnswer {
            guard let time else { return try await expectAnswer(within: maxAnswer, send) }
            return try await whilePassing({ time.advance(by: .milliseconds(250)) }, send)
        }
        let server = try service.ownServer
        try await begin(server)
        for image in [TestImage.jpeg, TestImage.png(bytes: 3 << 20)] {
            let answer = try await answer { try await service.upload(image, token: token) }
            #expect(answer.status == 503, "\(answer.text)")
            #expect(answer.headers["retry-after"] == "5")
            #expect(answer.message != nil)
            #expect(try await service.count("SELECT count(*) FROM photos") == 2)
        }
        #expect(try await service.list(token: token).jsonArray?.count == 2)
        let deletion = try await answer { try await service.delete(deleted, token: token) }
        #expect(deletion.message == "Image deleted")
        #expect(try await service.list(token: token).jsonArray?.count == 1)
        #expect(service.objects.keys().contains(deleted))

        try await end(server)
        if time != nil { try await poll("the store is done with what was given up") { try server.leftCount == 0 } }
        try await poll("uploads work again", within: maxReturn) {
            try await service.upload(token: token).status == 200
        }
        try await poll("objects and rows match") {
            // Deletions that wait for their back-off are brought forward. So are those that wait 20 s for a put, once
            // that put is over.
            try await service.postgres.write(
                "UPDATE object_deletions SET due_at = now() AT TIME ZONE 'UTC' WHERE attempts > 0 OR \(time != nil)"
            )
            guard try await service.count("SELECT count(*) FROM object_deletions") == 0 else { return false }
            return service.objects.keys().count == 2
        }
        #expect(service.objects.keys().contains(kept))
        #expect(try await service.count("SELECT count(*) FROM photos WHERE state = 'ready'") == 2)
    }
}
