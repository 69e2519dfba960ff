extension [ClusterUser] {
    private static let atOnce = 8

    /// Makes users, with an account each.
    static func join(
        _ count: Int,
        _ repertoire: ClusterUser.Repertoire,
        _ calls: ClusterCalls
    ) async throws -> [ClusterUser] {
        let members = ClusterMembers()
        var users: [ClusterUser] = []
        // A process hashes few passwords at the same time.
        while users.count < count {
            let numbers = users.count..<Swift.min(count, users.count + Self.atOnce)
            let some = numbers.map {
                ClusterUser(number: $0, repertoire: repertoire, calls: calls, members: members)
            }
            users += try await some.changed { user in try await user.join() }
        }
        return users
    }

    /// Changes all users at the same time.
    func changed(
        _ change: @escaping @Sendable (inout ClusterUser) async throws -> Void
    ) async throws -> [ClusterUser] {
        try await withThrowingTaskGroup(of: (Int, ClusterUser).self) { tasks in
            for (index, user) in enumerated() {
                tasks.addTask {
                    var user = user
                    try await change(&user)
                    return (index, user)
                }
            }
            var users = self
            for try await (index, user) in tasks { users[index] = user }
            return users
        }
    }
}
