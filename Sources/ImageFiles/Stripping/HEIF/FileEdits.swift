/// What is overwritten in a file, in place.
///
/// Edits that change no byte are left out, so that a stripped file is whole.
struct FileEdits {
    private struct Edit: Equatable {
        let range: Range<Int>
        /// The new bytes; nil for zeros.
        let bytes: [UInt8]?
    }

    /// The most edits.
    static let maxCount = 12_288
    /// The most units of coded pictures that are looked at: NAL units or OBUs.
    static let maxUnitCount = 65_536

    private var edits: [Edit] = []
    private var newByteCount = 0
    private var unitCount = 0

    /// Overwrites a range with zeros.
    ///
    /// - Throws: `NoImage` for too many edits.
    mutating func zero(_ range: Range<Int>) throws(NoImage) {
        guard !range.isEmpty else { return }
        try append(Edit(range: range, bytes: nil))
    }

    /// Overwrites the bytes at an offset with others.
    ///
    /// - Throws: `NoImage` for too many edits, or too many new bytes.
    mutating func overwrite(at offset: Int, with bytes: [UInt8]) throws(NoImage) {
        guard !bytes.isEmpty else { return }
        newByteCount += bytes.count
        guard newByteCount <= StrippedImage.maxNewBytes else { throw NoImage() }
        try append(Edit(range: offset..<(offset + bytes.count), bytes: bytes))
    }

    /// Counts a unit of a coded picture.
    ///
    /// - Throws: `NoImage` for more than ``maxUnitCount``.
    mutating func countUnit() throws(NoImage) {
        unitCount += 1
        guard unitCount <= Self.maxUnitCount else { throw NoImage() }
    }

    private mutating func append(_ edit: Edit) throws(NoImage) {
        guard edits.count < Self.maxCount else { throw NoImage() }
        edits.append(edit)
    }

    /// Makes a box free space of zeros.
    ///
    /// Source: ISO/IEC 14496-12, section 8.1.2 (`free`, `skip`).
    mutating func free(_ box: FileBox) throws(NoImage) {
        try rename(box)
        try zero(box.contents)
    }

    /// Makes a box's kind `free`, and leaves its contents.
    mutating func rename(_ box: FileBox) throws(NoImage) {
        guard !["free", "skip"].contains(box.kind) else { return }
        try overwrite(at: box.start + 4, with: Array("free".utf8))
    }

    /// Writes the edited file.
    ///
    /// What becomes zeros is read until a byte differs. In a stripped file, all of it is read.
    ///
    /// - Throws: `NoImage` when two different edits overlap, or for too many pieces.
    func write(_ file: inout FileBytes, into pieces: inout PieceList) async throws {
        var (written, end) = (0, 0)
        var last: Edit?
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            // Two items may have the same data.
            if edit == last { continue }
            last = edit
            guard edit.range.lowerBound >= end, edit.range.upperBound <= file.length else { throw NoImage() }
            end = edit.range.upperBound
            guard try await Self.changes(edit, &file) else { continue }
            try pieces.keep(written..<edit.range.lowerBound)
            if let bytes = edit.bytes { try pieces.add(bytes) } else { try pieces.addZeros(edit.range.count) }
            written = end
        }
        try pieces.keep(written..<file.length)
    }

    /// Whether an edit changes a byte of the file.
    private static func changes(_ edit: Edit, _ file: inout FileBytes) async throws -> Bool {
        if let bytes = edit.bytes {
            return try await !file.bytes(at: edit.range.lowerBound, count: bytes.count).elementsEqual(bytes)
        }
        var offset = edit.range.lowerBound
        while offset < edit.range.upperBound {
            let count = min(edit.range.upperBound - offset, FileBytes.maxPieceBytes)
            if try await file.bytes(at: offset, count: count).contains(where: { $0 != 0 }) { return true }
            offset += count
            // Bytes in memory are read without a wait. Others have their turns on the thread in between.
            if offset < edit.range.upperBound { await Task.yield() }
        }
        return false
    }
}
