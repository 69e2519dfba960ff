/// A box of an ISO base media file: its kind, and where its contents are.
///
/// Source: ISO/IEC 14496-12, section 4.2.
struct FileBox {
    let kind: String
    /// Where its head begins.
    let start: Int
    let contents: Range<Int>

    /// Reads the head of a box.
    ///
    /// - Parameters:
    ///   - offset: Where it begins.
    ///   - end: Where a box that says no length ends.
    ///   - file: The file.
    /// - Returns: The box, which may say that it ends beyond the file.
    /// - Throws: `NoImage` when the head is not whole, or its length has no room for it.
    static func read(at offset: Int, end: Int, of file: inout FileBytes) async throws -> FileBox {
        let head = try await file.bytes(at: offset, count: 8)
        let kind = String(decoding: head.piece(at: 4, count: 4), as: UTF8.self)
        var headBytes = 8
        var length = head.bigEndian(at: 0, count: 4)
        switch length {
        case 0: length = end - offset
        case 1:
            // No file is as long as the highest byte of such a length can say.
            let large = try await file.bytes(at: offset + 8, count: 8)
            guard large.first == 0 else { throw NoImage() }
            (headBytes, length) = (16, large.bigEndian(at: 1, count: 7))
        default: break
        }
        guard length >= headBytes else { throw NoImage() }
        return FileBox(kind: kind, start: offset, contents: (offset + headBytes)..<(offset + length))
    }

    /// Finds the boxes that lie in a range, one after another.
    ///
    /// - Parameters:
    ///   - range: The contents of a box, or of the whole file.
    ///   - file: The file.
    ///   - body: Takes a box, and returns whether to continue.
    /// - Throws: `NoImage` when a box does not fit into the range, or what the body throws.
    static func forEach(
        in range: Range<Int>,
        of file: inout FileBytes,
        _ body: (FileBox, inout FileBytes) async throws -> Bool
    ) async throws {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let box = try await read(at: offset, end: range.upperBound, of: &file)
            guard box.contents.upperBound <= range.upperBound else { throw NoImage() }
            guard try await body(box, &file) else { return }
            offset = box.contents.upperBound
        }
    }

    /// The first bytes of the contents, for boxes that are short.
    func bytes(_ count: Int, of file: inout FileBytes) async throws -> ArraySlice<UInt8> {
        guard count <= contents.count else { throw NoImage() }
        return try await file.bytes(at: contents.lowerBound, count: count)
    }

    /// All of the contents.
    func bytes(of file: inout FileBytes) async throws -> ArraySlice<UInt8> {
        try await bytes(contents.count, of: &file)
    }

    /// The contents without version and flags, which boxes of some kinds begin with.
    var contentsAfterVersion: Range<Int> {
        get throws(NoImage) {
            guard contents.count >= 4 else { throw NoImage() }
            return (contents.lowerBound + 4)..<contents.upperBound
        }
    }
}
