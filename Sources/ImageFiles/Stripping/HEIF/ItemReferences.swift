/// How items refer to others.
///
/// Source: ISO/IEC 14496-12, section 8.11.12 (`iref`).
struct ItemReferences {
    /// A box with references of one item.
    struct Entry {
        let box: FileBox
        let from: Int
        let to: [Int]
        /// Where the references end in the file.
        let end: Int
    }

    /// The most references.
    static let maxCount = 8_192

    private(set) var entries: [Entry] = []

    /// No references.
    init() {}

    /// - Throws: `NoImage` for more than ``maxCount``.
    init(_ list: FileBox, of file: inout FileBytes) async throws {
        let version = try await list.bytes(4, of: &file).bigEndian(at: 0, count: 1)
        guard version <= 1 else { throw NoImage() }
        let idBytes = version == 0 ? 2 : 4
        var (entries, count) = ([Entry](), 0)
        try await FileBox.forEach(in: list.contentsAfterVersion, of: &file) { box, file in
            var fields = try await BoxFields(box, of: &file)
            let from = try fields.number(idBytes)
            let ownCount = try fields.number(2)
            count += max(1, ownCount)
            guard count <= Self.maxCount else { throw NoImage() }
            var to: [Int] = []
            for _ in 0..<ownCount { to.append(try fields.number(idBytes)) }
            entries.append(Entry(box: box, from: from, to: to, end: fields.offset))
            return true
        }
        self.entries = entries
    }
}
