/// Reads the size of a HEIC, HEIF or AVIF: that of its primary item, or of its first track.
///
/// Sources: ISO/IEC 14496-12, sections 8.11.1 (`meta`), 8.11.4 (`pitm`) and 8.3.2 (`tkhd`); ISO/IEC 23008-12, sections 6.5.3
/// (`ispe`), 6.5.10 (`irot`) and 9.3 (`iprp`, `ipco`, `ipma`); the AVIF specification takes them over.
enum HEIFFile {
    static func size(_ file: inout FileBytes, mustBeWhole: Bool) async throws -> ImageSize {
        var found: ImageSize?
        try await FileBox.forEach(in: 0..<file.length, of: &file) { box, file in
            switch box.kind {
            case "meta":
                var properties = ItemProperties()
                try await FileBox.forEach(in: box.contentsAfterVersion, of: &file) { box, file in
                    try await properties.read(box, of: &file)
                    return true
                }
                found = try properties.sizeOfPrimaryItem()
            case "moov" where found == nil: found = try await sizeOfFirstTrack(box, of: &file)
            default: break
            }
            // A picture comes before the pictures that move.
            return found == nil
        }
        guard let found else { throw NoImage() }
        if mustBeWhole { try await checkPixels(&file) }
        return found
    }

    /// Checks that no box with pictures ends beyond the file.
    ///
    /// What follows the boxes may be anything: some cameras put bytes of their own behind an image.
    private static func checkPixels(_ file: inout FileBytes) async throws {
        var offset = 0
        var isCut = false
        do {
            while offset < file.length, !isCut {
                let box = try await FileBox.read(at: offset, end: file.length, of: &file)
                offset = box.contents.upperBound
                isCut = offset > file.length && ["mdat", "moov"].contains(box.kind)
            }
        } catch is NoImage {
            // These bytes are no box.
        }
        if isCut { throw NoImage() }
    }

    /// The size of a series of pictures that has no single one.
    private static func sizeOfFirstTrack(_ movie: FileBox, of file: inout FileBytes) async throws -> ImageSize? {
        var found: ImageSize?
        try await FileBox.forEach(in: movie.contents, of: &file) { box, file in
            guard box.kind == "trak" else { return true }
            try await FileBox.forEach(in: box.contents, of: &file) { box, file in
                guard box.kind == "tkhd" else { return true }
                // Width and height come last, with 16 bits behind the point.
                let header = try await box.bytes(of: &file)
                guard header.count >= 8 else { throw NoImage() }
                let end = header.suffix(8)
                found = try ImageSize(width: end.bigEndian(at: 0, count: 2), height: end.bigEndian(at: 4, count: 2))
                return false
            }
            return found == nil
        }
        return found
    }
}
