/// Finds what stays of a JPEG: what decoders need for the pixels and their colors, and the orientation.
///
/// The file is read through, since only its pixels tell where it ends. What lies behind goes: other pictures (CIPA DC-007,
/// "Multi-Picture Format"), videos of moving photos, gain maps.
///
/// Sources: ITU-T T.81, annex B; ITU-T T.871, section 10.1, for APP0; ITU-T T.872, section 6.5.3, for APP14; ICC.1:2022,
/// annex B.4, for APP2; Exif 2.32 (CIPA DC-008), section 4.7, for APP1.
enum JPEGStripping {
    static func strip(_ file: inout FileBytes, into pieces: inout PieceList) async throws {
        let exif = try await ExifPlace.find(in: &file)
        var offset = 2
        var (frameCount, scanCount) = (0, 0)
        try pieces.keep(0..<offset)
        while true {
            if offset == exif.offset { try await exif.add(to: &pieces, of: &file) }
            let marker = try await JPEGMarker.read(at: offset, of: &file)
            if marker.code == JPEGMarker.endOfImage {
                guard scanCount > 0 else { throw NoImage() }
                return try pieces.keep(marker.offset..<(marker.offset + 2))
            }
            let contents = try await marker.contents(of: &file)
            offset = contents.upperBound
            switch marker.code {
            case applications, comment:
                // Decoders take what tells of colors in front of the first scan.
                if scanCount == 0 { try await keepApplication(marker, contents, of: &file, in: &pieces) }
            case JPEGMarker.startOfScan:
                scanCount += 1
                guard frameCount == 1, try await isScanHeader(contents, of: &file) else { throw NoImage() }
                offset = try await JPEGScan.end(of: &file, from: contents.upperBound)
                try pieces.keep(marker.offset..<offset)
            case _ where marker.isFrame:
                frameCount += 1
                guard frameCount == 1 else { throw NoImage() }
                _ = try await JPEGFile.frame(&file, at: marker.offset + 2)
                try pieces.keep(marker.offset..<offset)
            case lineCount, restartInterval:
                guard contents.count == 2 else { throw NoImage() }
                try pieces.keep(marker.offset..<offset)
            case huffmanTables, arithmeticConditioning, quantizationTables, hierarchy, expansion:
                try pieces.keep(marker.offset..<offset)
            default:
                // What is reserved may be anything, and no decoder knows it.
                throw NoImage()
            }
        }
    }

    /// A scan's header: the count of components, two bytes for each, and three others (B.2.3).
    private static func isScanHeader(_ contents: Range<Int>, of file: inout FileBytes) async throws -> Bool {
        let count = Int(try await file.byte(at: contents.lowerBound))
        return (1...4).contains(count) && contents.count == 4 + 2 * count
    }

    /// Keeps what tells of the density and of colors.
    private static func keepApplication(
        _ marker: JPEGMarker,
        _ contents: Range<Int>,
        of file: inout FileBytes,
        in pieces: inout PieceList
    ) async throws {
        let segment = marker.offset..<contents.upperBound
        let head = try await file.bytes(at: contents.lowerBound, count: min(contents.count, profile.utf8.count))
        switch marker.code {
        case app0 where head.has(jfif, at: 0) && contents.count >= jfifBytes:
            // The density stays. The last two bytes are the size of a thumbnail, whose pixels would follow them.
            let kept = try await file.bytes(at: contents.lowerBound, count: jfifBytes - 2) + [0, 0]
            try await pieces.add(segment: marker.code, Array(kept), insteadOf: segment, of: &file)
        case app2 where head.has(profile, at: 0): try pieces.keep(segment)
        case app14 where head.has(adobe, at: 0) && contents.count >= adobeBytes:
            let kept = try await file.bytes(at: contents.lowerBound, count: adobeBytes)
            try await pieces.add(segment: marker.code, Array(kept), insteadOf: segment, of: &file)
        default: break
        }
    }

    /// Whether a segment is the header of a file that says its density.
    fileprivate static func isJFIF(
        _ marker: JPEGMarker,
        _ contents: Range<Int>,
        of file: inout FileBytes
    ) async throws -> Bool {
        guard marker.code == app0, contents.count >= jfifBytes else { return false }
        return try await file.bytes(at: contents.lowerBound, count: jfifBytes).has(jfif, at: 0)
    }

    private static let huffmanTables: UInt8 = 0xC4
    private static let arithmeticConditioning: UInt8 = 0xCC
    private static let quantizationTables: UInt8 = 0xDB
    private static let lineCount: UInt8 = 0xDC
    private static let restartInterval: UInt8 = 0xDD
    private static let hierarchy: UInt8 = 0xDE
    private static let expansion: UInt8 = 0xDF
    private static let applications: ClosedRange<UInt8> = 0xE0...0xEF
    private static let comment: UInt8 = 0xFE
    private static let app0: UInt8 = 0xE0
    private static let app2: UInt8 = 0xE2
    private static let app14: UInt8 = 0xEE

    private static let jfif = "JFIF\0"
    /// Name, version, units, two densities, the thumbnail's two sides.
    private static let jfifBytes = 14
    private static let profile = "ICC_PROFILE\0"
    private static let adobe = "Adobe"
    /// Name, version, two words of flags, the transform of colors.
    private static let adobeBytes = 12
}

/// Where the only block of Exif of a stripped JPEG is to be: behind the header of JFIF, or first.
private struct ExifPlace {
    var offset = 2
    var orientation = ExifOrientation.upright
    /// The first block of Exif, which counts.
    private var segment: Range<Int>?

    /// Reads as far as the first scan.
    static func find(in file: inout FileBytes) async throws -> ExifPlace {
        var place = ExifPlace()
        var offset = 2
        while true {
            let marker = try await JPEGMarker.read(at: offset, of: &file)
            guard marker.code != JPEGMarker.startOfScan else { return place }
            let contents = try await marker.contents(of: &file)
            offset = contents.upperBound
            if place.offset == 2, try await JPEGStripping.isJFIF(marker, contents, of: &file) { place.offset = offset }
            if place.segment == nil, marker.code == JPEGMarker.app1,
                let orientation = try await ExifOrientation.ofSegment(&file, in: contents)
            {
                place.orientation = orientation
                place.segment = marker.offset..<offset
            }
        }
    }

    /// Adds the block, if the image is to be turned.
    func add(to pieces: inout PieceList, of file: inout FileBytes) async throws {
        guard orientation != ExifOrientation.upright, let segment else { return }
        let contents = ExifOrientation.segment(orientation)
        try await pieces.add(segment: JPEGMarker.app1, contents, insteadOf: segment, of: &file)
    }
}

extension PieceList {
    /// Adds a segment in the place of another.
    fileprivate mutating func add(
        segment code: UInt8,
        _ contents: [UInt8],
        insteadOf range: Range<Int>,
        of file: inout FileBytes
    ) async throws {
        let length = (2 + contents.count).bigEndianBytes(2)
        try await add([0xFF, code] + length + contents, insteadOf: range, of: &file)
    }
}
