extension Field {
    /// The difference, such as `max 2000 -> 5, required`.
    ///
    /// - Parameter before: The field until now.
    /// - Returns: The changes, with commas between them.
    func difference(from before: Field) -> String {
        var parts: [String] = []
        switch (before.type, type) {
        case (.string(let old), .string(let new)):
            if old != new { parts.append("max \(Self.word(old)) -> \(Self.word(new))") }
        case (.reference(let old), .reference(let new)):
            if old != new { parts.append("reference to \(old) -> \(new)") }
        case (let old, let new):
            if old != new { parts.append("\(old.word) -> \(new.word)") }
        }
        if before.isRequired != isRequired { parts.append(isRequired ? "required" : "not required") }
        return parts.joined(separator: ", ")
    }

    private static func word(_ max: Int?) -> String { max.map(String.init) ?? "none" }
}
