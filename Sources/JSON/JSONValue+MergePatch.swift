import OrderedCollections

extension JSONValue {
    /// The value after a merge patch.
    ///
    /// A `null` of the patch removes a member. Source: RFC 7396, section 2.
    ///
    /// - Parameter patch: What is to change.
    /// - Returns: The changed value.
    package func merged(with patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members: OrderedDictionary<String, JSONValue> = if case .object(let own) = self { own } else { [:] }
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
