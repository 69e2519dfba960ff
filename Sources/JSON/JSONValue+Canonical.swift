extension JSONValue {
    /// A text that two values share if and only if they mean the same.
    ///
    /// Members are in the order of their names' bytes, and numbers in one form.
    package var canonicalText: String {
        switch self {
        case .object(let members):
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            let texts = sorted.map { name, value in "\(JSONValue.string(name).text):\(value.canonicalText)" }
            return "{\(texts.joined(separator: ","))}"
        case .array(let elements): return "[\(elements.map(\.canonicalText).joined(separator: ","))]"
        case .number(let digits): return DecimalNumber(digits).canonicalText
        case .string, .boolean, .null: return text
        }
    }
}
