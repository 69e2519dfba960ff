/// Texts with many combining marks, those first that are sorted last, which is the most work.
///
/// Each mark has two bytes in UTF-8.
struct MarkText: Sendable {
    /// How many marks stand in a row.
    enum Rows: CaseIterable, Sendable {
        /// All of a text: such texts are refused.
        case one
        /// 30, and then a letter: such texts are taken.
        case ofThirty
    }

    let rows: Rows

    /// The sizes at which a text is sent: what is too large may be refused before anything compares it.
    ///
    /// - Parameter taken: A size that is taken.
    /// - Returns: Nil for the largest that there is room for, and `taken`.
    static func sizes(taken: Int) -> [Int?] { [nil, taken] }

    /// As it is, in at most so many bytes.
    func raw(bytes: Int) -> String {
        String(String.UnicodeScalarView(scalars(bytes: bytes, bytesPerMark: 2)))
    }

    /// Percent-encoded, in at most so many bytes.
    func percentEncoded(bytes: Int) -> String {
        scalars(bytes: bytes, bytesPerMark: 6).map { scalar in
            scalar.isASCII ? String(scalar) : scalar.utf8.map { "%\(String($0, radix: 16, uppercase: true))" }.joined()
        }.joined()
    }

    /// With the escapes of JSON, in at most so many bytes.
    func escaped(bytes: Int) -> String {
        scalars(bytes: bytes, bytesPerMark: 6).map { scalar in
            scalar.isASCII ? String(scalar) : #"\u0\#(String(scalar.value, radix: 16))"#
        }.joined()
    }

    /// Different names of 255 bytes, in rows of 30.
    static func names(_ count: Int) -> [String] {
        let marks = MarkText(rows: .ofThirty).raw(bytes: 244)
        return (0..<count).map { "\(1_000 + $0)\(marks)nnnnnnn" }
    }

    private func scalars(bytes: Int, bytesPerMark: Int) -> [Unicode.Scalar] {
        switch rows {
        case .one: return Self.row(max(0, bytes) / bytesPerMark)
        case .ofThirty:
            let row = Self.row(30) + ["a"]
            return Array(repeatElement(row, count: max(0, bytes) / (30 * bytesPerMark + 1)).joined())
        }
    }

    private static func row(_ count: Int) -> [Unicode.Scalar] {
        (0..<count).map { marks[$0 * marks.count / count] }
    }

    private static let marks = (0x300..<0x700).compactMap(Unicode.Scalar.init)
        .filter { $0.properties.canonicalCombiningClass != .notReordered }
        .sorted { $0.properties.canonicalCombiningClass.rawValue > $1.properties.canonicalCombiningClass.rawValue }
}
