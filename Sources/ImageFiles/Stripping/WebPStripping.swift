/// Finds what stays of a WebP: the pixels, their profile of colors, the animation, and the orientation.
///
/// What decoders pass over goes, even when it is of a known kind: a profile or a block of Exif that the header does not
/// announce, and chunks behind the pixels of a simple file.
///
/// Source: Google, "WebP Container Specification" (RFC 9649, section 2).
enum WebPStripping {
    static func strip(_ file: inout FileBytes, into pieces: inout PieceList) async throws {
        _ = try await WebPFile.size(&file, mustBeWhole: true)
        let end = 8 + (try await file.bytes(at: 4, count: 4).littleEndian(at: 0, count: 4))
        let first = try await RIFFChunk.read(at: 12, end: end, of: &file)
        var chunks = PieceList()
        if first.type == "VP8X" {
            var extended = try await ExtendedWebP(header: first, of: &file)
            var offset = first.end
            while offset < end {
                let chunk = try await RIFFChunk.read(at: offset, end: end, of: &file)
                try await extended.take(chunk, of: &file)
                offset = chunk.end
            }
            try await extended.add(to: &chunks, of: &file)
        } else {
            try await chunks.keep(first, of: &file)
        }
        let count = "WEBP".utf8.count + chunks.byteCount
        guard count <= UInt32.max else { throw NoImage() }
        try pieces.keep(0..<4)
        try await pieces.add(count.littleEndianBytes(4), insteadOf: 4..<8, of: &file)
        try pieces.keep(8..<12)
        try pieces.add(chunks)
    }
}

/// What stays of the chunks of a WebP with a header `VP8X`.
private struct ExtendedWebP {
    private let header: RIFFChunk
    /// What the header announces.
    private let flags: UInt8
    /// What it is to announce.
    private var keptFlags: UInt8
    private var chunks = PieceList()
    private var types: Set<String> = []
    /// The first block of Exif, which counts.
    private var exif: (chunk: Range<Int>, orientation: Int)?

    init(header: RIFFChunk, of file: inout FileBytes) async throws {
        guard header.contents.count == Self.headerBytes else { throw NoImage() }
        self.header = header
        flags = try await file.byte(at: header.contents.lowerBound)
        keptFlags = flags & (Self.alphaFlag | Self.animationFlag)
    }

    /// Keeps a chunk, or leaves it out.
    ///
    /// - Throws: `NoImage` for a chunk that breaks the format.
    mutating func take(_ chunk: RIFFChunk, of file: inout FileBytes) async throws {
        let isAnimated = flags & Self.animationFlag != 0
        switch chunk.type {
        case "VP8X": throw NoImage()
        case "ICCP" where flags & Self.profileFlag != 0 && keptFlags & Self.profileFlag == 0:
            keptFlags |= Self.profileFlag
            try await chunks.keep(chunk, of: &file)
        case "ANIM" where isAnimated && types.insert(chunk.type).inserted:
            guard chunk.contents.count == Self.animationBytes else { throw NoImage() }
            try await chunks.keep(chunk, of: &file)
        case "ANMF" where isAnimated:
            types.insert(chunk.type)
            guard types.contains("ANIM") else { throw NoImage() }
            try await WebPFrame.strip(chunk, of: &file, into: &chunks)
        case "ALPH", "VP8 ", "VP8L":
            guard !isAnimated, types.insert(chunk.type).inserted else { throw NoImage() }
            try await chunks.keep(chunk, of: &file)
        case "EXIF" where flags & Self.exifFlag != 0 && exif == nil:
            exif = (chunk.range, try await ExifOrientation.ofChunk(&file, in: chunk.contents))
        default: break
        }
    }

    /// Adds the header and the chunks that stay.
    ///
    /// - Throws: `NoImage` without a picture, or with several that are not animated.
    func add(to pieces: inout PieceList, of file: inout FileBytes) async throws {
        guard types.intersection(["ANMF", "VP8 ", "VP8L"]).count == 1 else { throw NoImage() }
        let orientation = exif?.orientation ?? ExifOrientation.upright
        let isTurned = orientation != ExifOrientation.upright
        // The flags, and three bytes that are reserved.
        let (start, sizeAt) = (header.contents.lowerBound, header.contents.lowerBound + 4)
        try pieces.keep(header.range.lowerBound..<start)
        let kept = [isTurned ? keptFlags | Self.exifFlag : keptFlags, 0, 0, 0]
        try await pieces.add(kept, insteadOf: start..<sizeAt, of: &file)
        try pieces.keep(sizeAt..<header.range.upperBound)
        try pieces.add(chunks)
        if let exif, isTurned {
            let tiff = ExifOrientation.tiff(orientation)
            let chunk = Array("EXIF".utf8) + tiff.count.littleEndianBytes(4) + tiff
            try await pieces.add(chunk, insteadOf: exif.chunk, of: &file)
        }
    }

    private static let profileFlag: UInt8 = 0x20
    private static let alphaFlag: UInt8 = 0x10
    private static let exifFlag: UInt8 = 0x08
    private static let animationFlag: UInt8 = 0x02
    /// Flags, what is reserved, width and height.
    private static let headerBytes = 10
    /// The color behind the pictures, and how often they are shown.
    private static let animationBytes = 6
}
