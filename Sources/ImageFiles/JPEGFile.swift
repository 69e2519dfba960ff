/// Reads the size of a JPEG.
///
/// Source: ITU-T T.81, annex B: a file is a row of segments, each a marker, a length and its contents. The pixels follow the
/// frame's header, begin with a scan, and end with the marker EOI.
enum JPEGFile {
    static func size(_ file: inout FileBytes, mustBeWhole: Bool) async throws -> ImageSize {
        var offset = 2
        // Of several blocks of Exif, the first one counts.
        var orientation: Int?
        var size: ImageSize?
        while true {
            let marker = try await JPEGMarker.read(at: offset, of: &file)
            if marker.code == JPEGMarker.startOfScan {
                guard let size else { throw NoImage() }
                if mustBeWhole { try await file.findEnding([0xFF, JPEGMarker.endOfImage], from: marker.offset + 2) }
                return ExifOrientation.isTurned(orientation ?? ExifOrientation.upright) ? size.turned : size
            }
            let contents = try await marker.contents(of: &file)
            if marker.isFrame { size = try await frame(&file, at: marker.offset + 2) }
            if marker.code == JPEGMarker.app1, orientation == nil {
                orientation = try await ExifOrientation.ofSegment(&file, in: contents)
            }
            offset = contents.upperBound
        }
    }

    /// A frame's header: length, precision, lines, samples of a line, components (B.2.2).
    static func frame(_ file: inout FileBytes, at offset: Int) async throws -> ImageSize {
        let header = try await file.bytes(at: offset, count: 8)
        let (length, precision) = (header.bigEndian(at: 0, count: 2), header.bigEndian(at: 2, count: 1))
        let count = header.bigEndian(at: 7, count: 1)
        guard (2...16).contains(precision), (1...4).contains(count), length == 8 + 3 * count else { throw NoImage() }
        // Number of lines 0 means that a later segment has it, which decoders do not read either.
        let size = try ImageSize(width: header.bigEndian(at: 5, count: 2), height: header.bigEndian(at: 3, count: 2))
        // The components must be there, too.
        _ = try await file.bytes(at: offset, count: length)
        return size
    }
}
