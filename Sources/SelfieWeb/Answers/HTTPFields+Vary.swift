import HTTPTypes

extension HTTPFields {
    /// Names a header that the answer depends on.
    mutating func addVary(_ name: String) {
        guard let present = self[.vary] else { return self[.vary] = name }
        if !present.split(separator: ", ").contains(name[...]) { self[.vary] = "\(present), \(name)" }
    }
}
