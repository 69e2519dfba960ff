/// Finds what stays of a GIF: the pictures, their timing and how often they are shown.
///
/// A file may end anywhere behind its first picture's descriptor, as decoders allow. Nothing is added then.
///
/// Sources: CompuServe, "Graphics Interchange Format, Version 89a", sections 17 to 27 and appendix B; International Color
/// Consortium, "Embedding ICC Profiles in GIF Images".
enum GIFStripping {
    static func strip(_ file: inout FileBytes, into pieces: inout PieceList) async throws {
        _ = try await GIFFile.size(&file)
        let flags = Int(try await file.byte(at: GIFFile.screenBytes - 3))
        var offset = GIFFile.screenBytes + GIFFile.colorTableBytes(flags)
        try pieces.keep(0..<offset)
        while offset < file.length {
            let start = offset
            switch try await file.byte(at: start) {
            case trailer:
                return try pieces.keep(start..<(start + 1))
            case GIFFile.imageSeparator:
                offset = try await endOfPicture(&file, at: start)
                try pieces.keep(start..<offset)
            case GIFFile.extensionIntroducer:
                guard let block = try await GIFExtension.read(at: start, of: &file) else {
                    // The file ends within it.
                    offset = file.length
                    break
                }
                offset = block.range.upperBound
                if try await stays(block, of: &file) { try pieces.keep(block.range) }
            default: throw NoImage()
            }
        }
    }

    /// Where a picture ends: its descriptor, its table of colors, the size of its first codes, the codes.
    private static func endOfPicture(_ file: inout FileBytes, at start: Int) async throws -> Int {
        guard start + descriptorBytes <= file.length else { return file.length }
        let flags = Int(try await file.byte(at: start + descriptorBytes - 1))
        let codes = start + descriptorBytes + GIFFile.colorTableBytes(flags) + 1
        return try await GIFFile.endOfBlocks(&file, at: codes) ?? file.length
    }

    private static func stays(_ block: GIFExtension, of file: inout FileBytes) async throws -> Bool {
        switch block.label {
        case GIFExtension.graphicControl:
            // Introducer, label, a block of four bytes, the end.
            guard block.range.count == 8, try await file.byte(at: block.range.lowerBound + 2) == 4 else {
                throw NoImage()
            }
            // Decoders ignore text, and apply the control before it to the next picture.
            return true
        case GIFExtension.application:
            let head = try await file.bytes(at: block.range.lowerBound + 2, count: min(12, block.range.count - 2))
            guard head.first == 11 else { return false }
            let name = String(decoding: head.dropFirst(), as: UTF8.self)
            return name == profile || loops.contains(name) && block.range.count <= maxLoopBytes
        default: return false
        }
    }

    /// Separator, left, top, width, height, flags.
    private static let descriptorBytes = 10
    private static let trailer: UInt8 = 0x3B

    /// What says how often the pictures are shown: of Netscape, and of others the same.
    private static let loops: Set<String> = ["NETSCAPE2.0", "ANIMEXTS1.0"]
    /// A profile of colors.
    private static let profile = "ICCRGBG1012"
    /// The most bytes of an extension with a loop, which goes when it is longer.
    ///
    /// It has a head, the count in a block of 3 bytes, the size of a buffer in one of 5, and an end.
    private static let maxLoopBytes = 14 + 4 + 6 + 1
}

/// An extension of a GIF: its introducer, its label and its blocks.
struct GIFExtension {
    let label: UInt8
    let range: Range<Int>

    static let plainText: UInt8 = 0x01
    static let graphicControl: UInt8 = 0xF9
    static let application: UInt8 = 0xFF

    /// Reads an extension; nil when the file ends within it.
    static func read(at offset: Int, of file: inout FileBytes) async throws -> GIFExtension? {
        guard offset + 1 < file.length else { return nil }
        let label = try await file.byte(at: offset + 1)
        guard let end = try await GIFFile.endOfBlocks(&file, at: offset + 2) else { return nil }
        return GIFExtension(label: label, range: offset..<end)
    }
}
