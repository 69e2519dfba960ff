/// The bytes of a coded picture, which lie in one or more ranges of the file.
struct CodedData {
    /// How many bytes are read at a time.
    static let windowBytes = 16 * 1024

    let count: Int
    private let extents: [Range<Int>]
    private var window: ArraySlice<UInt8> = []
    private var windowStart = 0

    init(_ extents: [Range<Int>]) {
        self.extents = extents
        count = extents.reduce(0) { $0 + $1.count }
    }

    /// The bytes at an offset; at most ``windowBytes``.
    ///
    /// - Throws: `NoImage` when the data ends before, or when too many bytes are asked for.
    mutating func bytes(at offset: Int, count: Int, _ file: inout FileBytes) async throws -> ArraySlice<UInt8> {
        guard count <= Self.windowBytes, offset >= 0, offset <= self.count - count else { throw NoImage() }
        if offset < windowStart || offset + count > windowStart + window.count {
            let end = min(offset + Self.windowBytes, self.count)
            var bytes: [UInt8] = []
            for range in ranges(of: offset..<end) {
                bytes += try await file.bytes(at: range.lowerBound, count: range.count)
            }
            (window, windowStart) = (bytes[...], offset)
        }
        return window.piece(at: offset - windowStart, count: count)
    }

    /// Overwrites bytes from an offset on.
    func overwrite(at offset: Int, with bytes: [UInt8], _ edits: inout FileEdits) throws(NoImage) {
        var rest = bytes[...]
        for range in ranges(of: offset..<(offset + bytes.count)) {
            try edits.overwrite(at: range.lowerBound, with: Array(rest.prefix(range.count)))
            rest = rest.dropFirst(range.count)
        }
    }

    /// Overwrites a range of the bytes with zeros.
    func zero(_ range: Range<Int>, _ edits: inout FileEdits) throws(NoImage) {
        for range in ranges(of: range) { try edits.zero(range) }
    }

    /// Where a range of the bytes is in the file.
    private func ranges(of range: Range<Int>) -> [Range<Int>] {
        var (ranges, start) = ([Range<Int>](), 0)
        for extent in extents {
            let own = range.clamped(to: start..<(start + extent.count))
            if !own.isEmpty {
                let lower = extent.lowerBound + own.lowerBound - start
                ranges.append(lower..<(lower + own.count))
            }
            start += extent.count
        }
        return ranges
    }
}
