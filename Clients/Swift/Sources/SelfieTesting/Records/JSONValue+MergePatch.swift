import SelfieClient

extension JSONValue {
    /// The value after a merge patch (RFC 7396, section 2): a `null` of the patch removes a member.
    func merged(with patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members = members ?? [:]
        for (name, change) in changes {
            if change == .null {
                members.removeValue(forKey: name)
            } else {
                members[name] = (members[name] ?? .null).merged(with: change)
            }
        }
        return .object(members)
    }
}
