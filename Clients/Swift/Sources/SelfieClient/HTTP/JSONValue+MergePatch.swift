extension JSONValue {
    /// The merge patch of RFC 7396 that makes another value of this one.
    ///
    /// Objects are compared member by member. Arrays are replaced whole.
    func mergePatch(to other: JSONValue) -> JSONValue {
        guard case .object(let before) = self, case .object(let after) = other else { return other }
        var patch: [String: JSONValue] = [:]
        for (name, value) in after where before[name] != value {
            patch[name] = before[name].map { $0.mergePatch(to: value) } ?? value
        }
        for name in before.keys where after[name] == .none { patch[name] = .null }
        return .object(patch)
    }

    /// This value after a merge patch of RFC 7396.
    package func applying(mergePatch patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members: [String: JSONValue] = [:]
        if case .object(let present) = self { members = present }
        for (name, value) in changes {
            members[name] = value == .null ? .none : (members[name] ?? .null).applying(mergePatch: value)
        }
        return .object(members)
    }
}
