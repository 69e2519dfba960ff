import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieCore

/// A client that is behind: it asks for the next event when the test wants it to.
@Suite("Followers that are behind", .timeLimit(.minutes(3)))
struct SlowFollowerTests {
    private static let query = ChangeQuery(collections: nil, limit: 1)

    private static func follower(_ follow: FollowChanges, _ member: TestMember) async throws -> ChangeFollower {
        let session = try #require(try await SessionStore(postgres: follow.store.postgres).find(token: member.token))
        return follow(query, from: .beginning, by: session, for: .seconds(600))
    }

    /// The next event that is no silence.
    private static func next(_ follower: ChangeFollower) async throws -> ChangeFollower.Event {
        while true {
            let event = try await follower.next()
            if case .nothing = event { continue }
            return event
        }
    }

    @Test("Who loses a role while much is still to be sent gets none of it, and nothing that is written later")
    func lostRole() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let owner = try await service.addMember("owner", role: "team")
            let lead = try await service.addMember("lead", role: "leads")
            let follow = FollowChanges(postgres: service.postgres)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await follow.hub.run() }
                let follower = try await Self.follower(follow, ada)
                guard case .synced = try await Self.next(follower) else { throw Unexpected(description: "not synced") }
                for number in 0..<4 {
                    try await service.put("priorities/p\(number)", as: owner, #"{"data":{"name":"before"}}"#)
                }
                guard case .changes(let first) = try await Self.next(follower) else {
                    throw Unexpected(description: "no change")
                }
                #expect(first.changes.map(\.id) == ["p0"])
                // Another client of the same user hears of the loss: so has the first.
                let other = try await Self.follower(follow, ada)
                while case .changes = try await Self.next(other) {}
                let path = "/api/roles/team/members/\(ada.id)"
                #expect(try await service.call("DELETE", path, as: lead).status == 200)
                guard case .reset(.access) = try await Self.next(other) else {
                    throw Unexpected(description: "no reset")
                }
                try await service.put("priorities/marker", as: owner, #"{"data":{"name":"marker"}}"#)
                guard case .reset(.access) = try await Self.next(follower) else {
                    throw Unexpected(description: "something came after the role was lost")
                }
                tasks.cancelAll()
            }
        }
    }

    @Test("A process that ends does not wait until all is sent")
    func restart() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            for number in 0..<4 { try await service.put("houses/h\(number)", as: ada, #"{"data":{"address":"a"}}"#) }
            let follow = FollowChanges(postgres: service.postgres)
            let follower = try await Self.follower(follow, ada)
            guard case .changes = try await Self.next(follower) else { throw Unexpected(description: "no change") }
            follow.hub.stop()
            guard case .end(.restart) = try await Self.next(follower) else {
                throw Unexpected(description: "it goes on")
            }
        }
    }
}

/// A follower told something else.
private struct Unexpected: Error, CustomStringConvertible {
    let description: String
}
