import HTTPTypes

extension HTTPFields {
    /// Names a header that the answer depends on.
    mutating func addVary(_ name: String) {
        if self[.vary]?.contains(name) == true { return }
        self[.vary] = [self[.vary], name].compactMap(\.self).joined(separator: ", ")
    }
}
