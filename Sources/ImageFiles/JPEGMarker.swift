/// A marker of a JPEG: where it is, and what it begins.
///
/// Source: ITU-T T.81, sections B.1.1.2 to B.1.1.4 and table B.1.
struct JPEGMarker {
    let code: UInt8
    /// Where its two bytes are.
    let offset: Int

    /// Reads a marker, which may have any number of bytes 0xFF before it.
    ///
    /// - Throws: `NoImage` when there is none.
    static func read(at start: Int, of file: inout FileBytes) async throws -> JPEGMarker {
        var offset = start
        guard try await file.byte(at: offset) == 0xFF else { throw NoImage() }
        while true {
            let code = try await file.byte(at: offset + 1)
            if code != 0xFF { return JPEGMarker(code: code, offset: offset) }
            offset += 1
        }
    }

    /// Where the contents of the marker's segment are, behind their length.
    ///
    /// - Throws: `NoImage` for a marker without a segment, or a length that has no room for itself.
    func contents(of file: inout FileBytes) async throws -> Range<Int> {
        switch code {
        case 0, 0x01, Self.restarts, 0xD8, Self.endOfImage: throw NoImage()
        default: break
        }
        let length = try await file.bytes(at: offset + 2, count: 2).bigEndian(at: 0, count: 2)
        guard length >= 2 else { throw NoImage() }
        return (offset + 4)..<(offset + 2 + length)
    }

    /// Whether it is one of SOF0 to SOF15, between which others lie.
    var isFrame: Bool { (0xC0...0xCF).contains(code) && ![0xC4, 0xC8, 0xCC].contains(code) }

    static let restarts: ClosedRange<UInt8> = 0xD0...0xD7
    static let endOfImage: UInt8 = 0xD9
    static let startOfScan: UInt8 = 0xDA
    static let app1: UInt8 = 0xE1
}
