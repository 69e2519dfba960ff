import ConnectionTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import SelfieApp
import ServerProcesses
import TestSupport
import Testing

/// What somebody loses while a stream of changes is open.
package enum ChangeLoss: String, CaseIterable, Sendable {
    case sessionEnded, allSessionsEnded, accountDisabled, accountDeleted, roleRemoved, roleDisabled, accessTaken

    /// Has it happen at one process while a stream of another is open, and expects that nothing is sent that is written
    /// afterwards.
    ///
    /// - Parameter sendsNotifications: Whether processes notify each other of changes.
    /// - Returns: How long it took until the client got the change.
    /// - Throws: What goes wrong.
    package func happen(sendsNotifications: Bool) async throws -> Duration {
        try await TestService.runTwoWithSchema(adjust: { $0.sendsNotifications = sendsNotifications }) {
            first,
            second in
            let ada = try await first.addMember("ada", role: "team")
            let owner = try await first.addMember("owner", role: "team")
            let lead = try await first.addMember("lead", role: "leads")
            try await first.put("threads/t", as: owner, #"{"data":{"x":"before"},"readers":["\#(ada.id)"]}"#)
            try await first.put("priorities/p", as: owner, #"{"data":{"name":"before"}}"#)
            return try await EventClient.open(second, as: ada) { client in
                #expect(try await client.summaries(until: "synced").count == 3)
                let start = ContinuousClock.now
                try await happen(to: ada, owner, lead, first, sendsNotifications: sendsNotifications)
                let event = try #require(try await client.next())
                let time = ContinuousClock.now - start
                if self != .accessTaken { #expect(event.id == nil, "the client keeps its cursor") }
                #expect(event.summary == message)
                // Whoever is not there any more can't be named.
                let marker = self == .accountDeleted ? "{}" : #"{"x":"marker"}"#
                try await first.put("threads/t", as: owner, #"{"data":\#(marker)}"#)
                try await first.put("news/last", as: owner, #"{"data":{"title":"last"}}"#)
                if self != .roleDisabled {
                    try await first.put("priorities/p", as: owner, #"{"data":{"name":"marker"}}"#)
                }
                if self == .accessTaken {
                    #expect(try await client.summaries(until: "created news last").last == "created news last")
                } else {
                    #expect(try await client.next() == nil)
                }
                #expect(!client.received.contains(#""x":"marker""#))
                if self != .accessTaken { #expect(!client.received.contains("marker")) }
                return time
            }
        }
    }

    /// What the client gets.
    private var message: String {
        switch self {
        case .sessionEnded, .allSessionsEnded, .accountDisabled, .accountDeleted: "end session"
        case .roleRemoved, .roleDisabled: "reset access"
        case .accessTaken: "deleted threads t"
        }
    }

    private func happen(
        to ada: TestMember,
        _ owner: TestMember,
        _ lead: TestMember,
        _ service: TestService,
        sendsNotifications: Bool
    ) async throws {
        var command: [String] = []
        switch self {
        case .sessionEnded: try await call(service, "GET", "/api/clear_token", as: ada)
        case .allSessionsEnded: try await call(service, "GET", "/api/clear_token?all=true", as: ada)
        case .roleRemoved: try await call(service, "DELETE", "/api/roles/team/members/\(ada.id)", as: lead)
        case .accessTaken: try await call(service, "PATCH", "/api/records/threads/t", as: owner, #"{"readers":[]}"#)
        case .accountDisabled: command = ["users", "disable", "\(ada.userID)"]
        case .accountDeleted: command = ["users", "delete", "--yes", "\(ada.userID)"]
        case .roleDisabled: command = ["roles", "disable", "team"]
        }
        guard !command.isEmpty else { return }
        if sendsNotifications {
            let outcome = try await SelfieProcess.run(command, environment: ["DATABASE_URL": service.databaseURL])
            #expect(outcome.status == 0, "\(outcome)")
        } else {
            try await changeSilently(ada, service.postgres)
        }
    }

    private func changeSilently(_ ada: TestMember, _ postgres: PostgresClient) async throws {
        switch self {
        case .accountDisabled: try await postgres.write("UPDATE users SET disabled_at = now() WHERE id = \(ada.userID)")
        case .accountDeleted: try await postgres.write("DELETE FROM users WHERE id = \(ada.userID)")
        default: try await postgres.write("UPDATE roles SET disabled_at = now() WHERE name = 'team'")
        }
    }

    private func call(
        _ service: TestService,
        _ method: String,
        _ target: String,
        as member: TestMember,
        _ body: String? = nil
    ) async throws {
        #expect(try await service.call(method, target, as: member, body).status == 200)
    }
}
