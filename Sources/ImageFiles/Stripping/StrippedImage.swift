/// An image's file without what tells of its maker: where, when, by whom and with what it was made.
///
/// The pixels are neither decoded nor encoded: what is left of the file is the same, bit by bit.
package struct StrippedImage: Sendable, Equatable {
    /// A part of the stripped file.
    package enum Piece: Sendable, Equatable {
        /// A range of the original file.
        case file(Range<Int>)
        /// New bytes, at most ``maxNewBytes`` in all pieces.
        case bytes([UInt8])
        /// As many zeros, which overwrite what was there.
        case zeros(Int)
    }

    /// The stripped file, in order; at most ``maxPieceCount``.
    package let pieces: [Piece]
    /// The stripped file's length in bytes.
    package let byteCount: Int

    /// The most pieces: a file with more is refused.
    static let maxPieceCount = 8_192
    /// The most new bytes of all pieces.
    static let maxNewBytes = 256 * 1024
    /// The most pieces that are read of a file: a file that needs more is refused.
    ///
    /// A PNG of 2 GiB in libpng's chunks of 8 KiB takes 262,144, a GIF of 100,000 pictures with their timing 800,000.
    static let maxSteps = 1_048_576

    /// Whether the original has nothing to strip.
    package func isWhole(ofLength length: Int) -> Bool { pieces == [.file(0..<length)] }

    /// Reads an image's structure, and finds what stays of it.
    ///
    /// A JPEG is read through once. Of all others, the structure is read. Stripping a stripped file changes nothing.
    ///
    /// - Parameters:
    ///   - length: The file's length in bytes.
    ///   - windowBytes: How many bytes to ask for at a time.
    ///   - bytes: Gives the bytes of a range within `0..<length`.
    /// - Returns: What stays; nil when the file is no image, or breaks its format.
    /// - Throws: What `bytes` throws.
    package static func read(
        length: Int,
        windowBytes: Int = 16 * 1024,
        _ bytes: @escaping (Range<Int>) async throws -> [UInt8]
    ) async throws -> StrippedImage? {
        var file = FileBytes(length: length, windowBytes: windowBytes, stepLimit: maxSteps, read: bytes)
        do {
            let prefix = try await file.bytes(at: 0, count: min(length, ImageFormat.prefixBytes))
            guard let format = ImageFormat(leadingBytes: prefix) else { return nil }
            var pieces = PieceList()
            switch format {
            case .jpeg: try await JPEGStripping.strip(&file, into: &pieces)
            case .png: try await PNGStripping.strip(&file, into: &pieces)
            case .gif: try await GIFStripping.strip(&file, into: &pieces)
            case .webp: try await WebPStripping.strip(&file, into: &pieces)
            case .heic, .heif, .avif: try await HEIFStripping.strip(&file, into: &pieces)
            }
            return StrippedImage(pieces: pieces.pieces, byteCount: pieces.byteCount)
        } catch is NoImage {
            return nil
        }
    }
}

/// Collects the pieces of a stripped file, and joins neighbours.
struct PieceList {
    private(set) var pieces: [StrippedImage.Piece] = []
    /// How many bytes the pieces have.
    private(set) var byteCount = 0
    private var newByteCount = 0

    /// Keeps a range of the original file.
    ///
    /// - Throws: `NoImage` for too many pieces.
    mutating func keep(_ range: Range<Int>) throws(NoImage) {
        guard !range.isEmpty else { return }
        byteCount += range.count
        if case .file(let last) = pieces.last, last.upperBound == range.lowerBound {
            pieces[pieces.count - 1] = .file(last.lowerBound..<range.upperBound)
        } else {
            try append(.file(range))
        }
    }

    /// Adds new bytes.
    ///
    /// - Throws: `NoImage` for too many pieces, or too many new bytes.
    mutating func add(_ bytes: [UInt8]) throws(NoImage) {
        guard !bytes.isEmpty else { return }
        byteCount += bytes.count
        newByteCount += bytes.count
        guard newByteCount <= StrippedImage.maxNewBytes else { throw NoImage() }
        if case .bytes(let last) = pieces.last {
            pieces[pieces.count - 1] = .bytes(last + bytes)
        } else {
            try append(.bytes(bytes))
        }
    }

    /// Adds zeros.
    ///
    /// - Throws: `NoImage` for too many pieces.
    mutating func addZeros(_ count: Int) throws(NoImage) {
        guard count > 0 else { return }
        byteCount += count
        if case .zeros(let last) = pieces.last {
            pieces[pieces.count - 1] = .zeros(last + count)
        } else {
            try append(.zeros(count))
        }
    }

    private mutating func append(_ piece: StrippedImage.Piece) throws(NoImage) {
        guard pieces.count < StrippedImage.maxPieceCount else { throw NoImage() }
        pieces.append(piece)
    }
}
