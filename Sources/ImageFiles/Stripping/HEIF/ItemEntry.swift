/// An item's entry: its number, and what it is.
///
/// Source: ISO/IEC 14496-12, section 8.11.6 (`iinf`, `infe`).
struct ItemEntry {
    let id: Int
    let kind: String
    /// The flags' last byte, whose lowest bit hides the item.
    private let flags: UInt8
    private let flagsOffset: Int
    private let kindOffset: Int
    /// The item's name, and the content type or URI of some kinds.
    private let texts: Range<Int>

    /// The most items.
    ///
    /// A photo of 100 megapixels in tiles of 512² pixels has 400.
    static let maxCount = 2_048

    /// Reads all entries of a box `iinf`.
    ///
    /// - Throws: `NoImage` for more than ``maxCount``, for a number that two items have, and for items of old versions,
    ///   which have no kind, or that are encrypted.
    static func all(in list: FileBox, of file: inout FileBytes) async throws -> [ItemEntry] {
        let countBytes = try await list.bytes(1, of: &file).first == 0 ? 2 : 4
        let head = try await list.bytes(4 + countBytes, of: &file)
        let count = head.bigEndian(at: 4, count: countBytes)
        guard count <= maxCount else { throw NoImage() }
        var entries: [ItemEntry] = []
        let range = (list.contents.lowerBound + head.count)..<list.contents.upperBound
        try await FileBox.forEach(in: range, of: &file) { box, file in
            guard box.kind == "infe", entries.count < count else { throw NoImage() }
            entries.append(try await ItemEntry(box, of: &file))
            return true
        }
        guard entries.count == count, Set(entries.map(\.id)).count == count else { throw NoImage() }
        return entries
    }

    private init(_ box: FileBox, of file: inout FileBytes) async throws {
        var fields = try await BoxFields(box, of: &file)
        let version = try fields.number(1)
        guard [2, 3].contains(version) else { throw NoImage() }
        _ = try fields.number(2)
        flagsOffset = fields.offset
        flags = UInt8(try fields.number(1))
        id = try fields.number(version == 2 ? 2 : 4)
        guard try fields.number(2) == 0 else { throw NoImage() }
        kindOffset = fields.offset
        kind = try fields.kind()
        texts = fields.offset..<box.contents.upperBound
    }

    /// Overwrites the texts with zeros, which are empty texts.
    func stripTexts(_ edits: inout FileEdits) throws(NoImage) { try edits.zero(texts) }

    /// Makes the item one that no reader shows: hidden, and of no kind that is known.
    func hide(_ edits: inout FileEdits) throws(NoImage) {
        try edits.overwrite(at: flagsOffset, with: [flags | 1])
        try edits.overwrite(at: kindOffset, with: Array("free".utf8))
    }
}
