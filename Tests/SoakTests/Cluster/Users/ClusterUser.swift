import ConnectionTestSupport
import Foundation
import TestSupport

/// A user of a cluster, who knows what was answered, and expects to find just that.
struct ClusterUser {
    /// Which calls a user makes.
    enum Repertoire: Sendable {
        /// Those of `railsauth`, which all versions have.
        case railsauth
        case all
    }

    private let repertoire: Repertoire
    private let members: ClusterMembers
    private let messages: ClusterMessages
    private var client: ClusterClient
    private var account: ClusterAccount
    private var photos = ClusterPhotos()
    private var records = ClusterRecords()
    private var feed = ClusterFeed()
    private var blocks: ClusterBlocks
    private var subscriptions = ClusterSubscriptions()

    init(number: Int, repertoire: Repertoire, calls: ClusterCalls, members: ClusterMembers) {
        (self.repertoire, self.members) = (repertoire, members)
        messages = ClusterMessages(members: members)
        client = ClusterClient(number: number, calls: calls)
        account = ClusterAccount(number: number)
        blocks = ClusterBlocks(members: members)
    }

    /// What a whole run must have had, and has not.
    ///
    /// - Parameters:
    ///   - successes: How many calls were answered, by name.
    ///   - duration: How long the run was.
    /// - Returns: The names; none for a short run.
    static func unanswered(_ successes: [String: Int], in duration: Duration) -> [String] {
        guard duration >= ClusterLosses.wholeRun else { return [] }
        let calls = [
            ClusterAccount.calls, ClusterPhotos.calls, ClusterRecords.calls, ClusterFeed.calls, ClusterMessages.calls,
            ClusterBlocks.calls, ClusterSubscriptions.calls,
        ]
        return calls.joined().filter { successes[$0] == nil }
    }

    /// Makes the account, and begins a session.
    mutating func join() async throws {
        try await account.join(&client)
        guard repertoire == .all, ClusterMembers.stays(client.number) else { return }
        let profile = try await account.profile(client)
        if let id = profile.json["id"] as? String { members.note(id, of: client.number) }
    }

    /// Does one thing after another until a time.
    mutating func run(until end: ContinuousClock.Instant, pause: Duration) async throws {
        while ContinuousClock.now < end {
            try await Task.sleep(for: pause * Double.random(in: 0.5...1.5, using: &client.generator))
            switch repertoire {
            case .railsauth: try await callRailsauth(Int.random(in: 0..<100, using: &client.generator))
            case .all: try await act(Int.random(in: 0..<241, using: &client.generator))
            }
            if photos.count > ClusterPhotos.maxCount { try await photos.delete(&client) }
        }
    }

    private mutating func callRailsauth(_ choice: Int) async throws {
        switch choice {
        case 0..<25: try await photos.upload(&client, mayBeLarge: false)
        case 25..<60: try await photos.list(client)
        case 60..<80: try await photos.get(&client)
        case 80..<90: try await photos.delete(&client)
        case 90..<94: try await account.useEndedToken(&client)
        case 94..<98: try await account.renewSession(&client)
        default: try await changePassword()
        }
    }

    private mutating func act(_ choice: Int) async throws {
        switch choice {
        case 0..<122: try await usePhotos(choice)
        case 122..<202: try await useRecords(choice)
        case 202..<219: try await useAccount(choice)
        default: try await useMembers(choice)
        }
    }

    private mutating func usePhotos(_ choice: Int) async throws {
        switch choice {
        case 0..<24: try await photos.upload(&client, mayBeLarge: true)
        case 24..<64: try await photos.list(client)
        case 64..<84: try await photos.get(&client)
        case 84..<92: try await photos.getPart(&client)
        case 92..<102: try await photos.getSmall(&client)
        case 102..<106: try await photos.openDeleted(&client)
        case 106..<122 where photos.count > ClusterPhotos.maxCount / 2: try await photos.delete(&client)
        default: try await records.put(&client)
        }
    }

    private mutating func useRecords(_ choice: Int) async throws {
        switch choice {
        case 122..<138: try await records.put(&client)
        case 138..<150: try await records.change(&client)
        case 150..<154: try await records.create(&client)
        case 154..<160: try await records.delete(&client)
        case 160..<176: try await records.get(&client)
        case 176..<186: try await records.list(client)
        case 186..<198: try await follow()
        default: try await records.lookAtOthers(&client)
        }
    }

    private mutating func useAccount(_ choice: Int) async throws {
        switch choice {
        case 202..<206: try await account.useEndedToken(&client)
        case 206..<209: try await account.changeProfile(&client)
        case 209..<211: try await account.renewSession(&client)
        case 211: try await changePassword()
        case 212: try await account.export(client)
        case 213: try await account.listSessions(client)
        case 214..<217: try await subscriptions.change(&client)
        case 217..<219 where !ClusterMembers.stays(client.number): try await leave()
        default: break
        }
    }

    private mutating func useMembers(_ choice: Int) async throws {
        switch choice {
        case 219..<227: try await messages.send(&client)
        case 227..<231: try await messages.list(client)
        case 231..<237: try await messages.deleteOne(of: feed.versions(in: "inbox"), &client)
        default: try await blocks.change(&client)
        }
    }

    private mutating func changePassword() async throws {
        try await account.changePassword(&client)
        // The photos have new URLs.
        try await photos.list(client)
    }

    private mutating func follow() async throws {
        let due = members.due(to: client.number)
        guard try await feed.read(client) else { return }
        feed.expect(records.versions, in: "houses", client)
        feed.expect(photos.ids.reduce(into: [:]) { $0[$1] = 0 }, in: "photos", client)
        messages.expect(feed.versions(in: "inbox"), due: due, client)
    }

    /// Deletes the account, and makes another one, which has nothing.
    private mutating func leave() async throws {
        try await account.delete(client)
        try await photos.expectNone(client)
        (photos, records, feed) = (ClusterPhotos(), ClusterRecords(), ClusterFeed())
        (blocks, subscriptions) = (ClusterBlocks(members: members), ClusterSubscriptions())
        client.generation += 1
        try await account.join(&client)
    }

    /// Expects to find everything, and nothing else.
    mutating func expectAll() async throws {
        try await photos.list(client)
        if repertoire == .all {
            try await records.list(client)
            try await follow()
            try await messages.list(client)
            try await blocks.list(client)
            try await subscriptions.list(client)
        }
        try await photos.expectAll(client)
        try await account.expectAllEnded(client)
    }
}
