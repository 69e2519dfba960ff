/// Finds what stays of a PNG: the pixels, their colors, density and animation, and the orientation.
///
/// Source: W3C, "Portable Network Graphics (PNG) Specification (Third Edition)", sections 5 and 11.
enum PNGStripping {
    static func strip(_ file: inout FileBytes, into pieces: inout PieceList) async throws {
        _ = try await PNGFile.size(&file, mustBeWhole: false)
        let header = 0..<PNGFile.headerEnd
        var rest = PieceList()
        var orientation: (chunk: Range<Int>, value: Int)?
        var chunk = try await PNGChunk.read(at: header.upperBound, of: &file)
        // Chunks of pixels follow one another. Others between them are refused: without these, decoders see more pixels.
        var (hasPixels, hasPixelsBefore) = (false, false)
        while chunk.type != "IEND" {
            switch chunk.type {
            case "IDAT":
                guard !hasPixels || hasPixelsBefore else { throw NoImage() }
                hasPixels = true
                try rest.keep(chunk.range)
            case "PLTE":
                guard chunk.contents.count <= 3 * 256, chunk.contents.count % 3 == 0 else { throw NoImage() }
                try rest.keep(chunk.range)
            case "iCCP": try await ICCChunk.keep(chunk, of: &file, in: &rest)
            case "eXIf":
                if orientation == nil {
                    orientation = (chunk.range, try await ExifOrientation.ofChunk(&file, in: chunk.contents))
                }
            case "acTL", "fcTL", "fdAT":
                guard lengths[chunk.type]?.contains(chunk.contents.count) == true else { throw NoImage() }
                try rest.keep(chunk.range)
            default:
                guard chunk.isAncillary else { throw NoImage() }
                // Decoders pass over a chunk of another length.
                if lengths[chunk.type]?.contains(chunk.contents.count) == true { try rest.keep(chunk.range) }
            }
            hasPixelsBefore = chunk.type == "IDAT"
            chunk = try await PNGChunk.read(at: chunk.range.upperBound, of: &file)
        }
        guard try await file.bytes(at: chunk.range.lowerBound, count: end.count).elementsEqual(end) else {
            throw NoImage()
        }
        try rest.keep(chunk.range)

        try pieces.keep(header)
        if let orientation, orientation.value != ExifOrientation.upright {
            let kept = PNGChunk.bytes("eXIf", ExifOrientation.tiff(orientation.value))
            try await pieces.add(kept, insteadOf: orientation.chunk, of: &file)
        }
        try pieces.add(rest)
    }

    /// The chunk that ends a file.
    private static let end = PNGChunk.bytes("IEND", [])

    /// How many bytes the contents may have of the chunks that stay as they are.
    ///
    /// Sources: sections 11.3.1 to 11.3.6.
    private static let lengths: [String: ClosedRange<Int>] = [
        "tRNS": 1...256, "gAMA": 4...4, "cHRM": 32...32, "sRGB": 1...1, "cICP": 4...4, "mDCV": 24...24, "cLLI": 8...8,
        "sBIT": 1...4, "bKGD": 1...6, "hIST": 2...512, "pHYs": 9...9,
        "acTL": 8...8, "fcTL": 26...26, "fdAT": 4...PNGChunk.maxContentsBytes,
    ]
}
