import CZlib
import Foundation

/// Files that exhaust or mislead decoders.
enum HostilePicture {
    /// A small JPEG whose header says another size.
    static func jpeg(_ name: String, width: UInt16, height: UInt16) throws -> Data {
        var bytes = try TestPicture.bytes(name)
        // A frame header: its marker, its length, the bits of a sample, the height, the width (ITU T.81, B.2.2).
        guard let frame = bytes.indices.first(where: { bytes[$0] == 0xFF && [0xC0, 0xC2].contains(bytes[$0 + 1]) })
        else { return Data() }
        bytes.replaceSubrange((frame + 5)..<(frame + 9), with: bigEndian(height) + bigEndian(width))
        return bytes
    }

    /// A progressive JPEG that repeats its last scan.
    static func scans(_ count: Int, side: UInt16) throws -> Data {
        let bytes = try jpeg("scans.jpg", width: side, height: side)
        guard let scan = bytes.range(of: Data([0xFF, 0xDA]), options: .backwards) else { return Data() }
        let (last, end) = (bytes[scan.lowerBound..<(bytes.count - 2)], bytes.suffix(2))
        return (0..<count).reduce(into: bytes.dropLast(2)) { file, _ in file += last } + end
    }

    /// A PNG with 16 bits for each of four colors, all of them zeros, and as many more zeros behind them.
    static func png(width: Int, height: Int, moreZeros: Int = 0) -> Data {
        var bytes = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        bytes += chunk("IHDR", bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + Data([16, 6, 0, 0, 0]))
        bytes += chunk("IDAT", zeros((1 + width * 8) * height + moreZeros))
        return bytes + chunk("IEND", Data())
    }

    /// A GIF of 400 by 400 pixels with many pictures.
    static func gif(frames: Int) -> Data {
        let start = Data("GIF89a".utf8) + Data([0x90, 1, 0x90, 1, 0x80, 0, 0, 0, 0, 0, 255, 255, 255])
        let frame = Data([0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0])
        var bytes = start
        for _ in 0..<frames { bytes += frame }
        return bytes + Data([0x3B])
    }

    /// Texts that some library opens other files for.
    static let misleading: [String: Data] = [
        "svg": Data(
            """
            <?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="900" height="900" \
            xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="/etc/passwd" width="900" height="900"/></svg>
            """.utf8
        ),
        "mvg": Data("push graphic-context\nimage over 0,0 0,0 '/etc/passwd'\npop graphic-context".utf8),
        "text": Data("text:/etc/passwd".utf8),
        "csv": Data("1,2,3\n4,5,6\n".utf8),
        "vips": Data([0x08, 0xF2, 0xA6, 0xB6]) + Data(count: 60) + Data("/etc/passwd".utf8),
        "vips, the other way round": Data([0xB6, 0xA6, 0xF2, 0x08]) + Data(count: 60) + Data("/etc/passwd".utf8),
        "svg behind a JPEG's start": Data([0xFF, 0xD8, 0xFF]) + Data("<svg width='900' height='900'/>".utf8),
        "pdf": Data("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj".utf8),
        "tiff": Data("II*\0\u{8}\0\0\0".utf8) + Data(count: 200),
        "nothing": Data(),
        "zeros": Data(count: 100_000),
    ]

    /// Zeros, compressed as RFC 1950 and 1951 have it: with fixed codes, one zero, then repetitions of 258 bytes.
    private static func zeros(_ count: Int) -> Data {
        // Eight repetitions have thirteen bytes: length 258 is 11000101, distance 1 is 00000.
        let repetitions = (count - 1 + 257) / 258
        var bits: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0]
        let repetition: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
        for _ in 0..<8 { bits += repetition }
        let all = packed(bits)
        var bytes = Data([0x78, 0x9C, all[0]])
        let period = Data(all[1..<14])
        for _ in 0..<(repetitions / 8) { bytes += period }
        // The rest begins within a byte, as the first repetitions do: three bits of that byte are left.
        var rest: [UInt8] = Array(bits[8..<11])
        for _ in 0..<(repetitions % 8) { rest += repetition }
        bytes += Data(packed(rest + [0, 0, 0, 0, 0, 0, 0]))
        let sum = UInt32((1 + repetitions * 258) % 65521) << 16 | 1
        return bytes + bigEndian(sum)
    }

    /// Bits as bytes, the first one lowest.
    private static func packed(_ bits: [UInt8]) -> [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | $1.element << UInt8($1.offset) }
        }
    }

    private static func chunk(_ kind: String, _ contents: Data) -> Data {
        let named = Data(kind.utf8) + contents
        let sum = named.withUnsafeBytes { bytes in
            crc32(0, bytes.bindMemory(to: UInt8.self).baseAddress, uInt(bytes.count))
        }
        return bigEndian(UInt32(contents.count)) + named + bigEndian(UInt32(sum))
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> Data {
        withUnsafeBytes(of: number.bigEndian) { Data($0) }
    }
}
