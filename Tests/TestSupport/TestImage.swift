package import Foundation
import ServerProcesses

/// Bytes that pass as photos.
package enum TestImage {
    /// A real JPEG, the one that the README uploads.
    package static let jpeg =
        (try? Data(contentsOf: ProjectFolder.root.appending(path: "docs/example.jpg"))) ?? Data()

    /// A PNG of 640 by 480 pixels that are not there: its signature and the chunks `IHDR` and `IEND`.
    ///
    /// Any bytes may follow it.
    package static let pngHead = Data([
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x02, 0x80, 0x00, 0x00, 0x01, 0xE0, 0x08, 0x02, 0x00, 0x00, 0x00, 0xBA, 0xB3, 0x4B, 0xB3, 0x00, 0x00, 0x00,
        0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ])

    /// A photo of any size: a PNG with bytes in its chunk `IDAT` that differ by `seed`, and are no pixels.
    ///
    /// A photo of less than 57 bytes has no such chunk. It ends with other bytes.
    package static func png(bytes count: Int, seed: UInt8 = 0) -> Data {
        // Whole blocks, since a closure for each of millions of bytes takes seconds in a debug build.
        let block = Data((0..<256).map { UInt8(truncatingIfNeeded: $0 * 31) ^ seed })
        guard count >= pngHead.count + 12 else { return (pngHead + block).prefix(count) }
        let (start, end) = pngFrame(bytes: count)
        var image = start
        image.reserveCapacity(count + block.count)
        while image.count < count - end.count { image += block }
        return image.prefix(count - end.count) + end
    }

    /// What a PNG of any size has around the bytes of its chunk `IDAT`.
    ///
    /// - Parameter count: How many bytes the PNG has, at least 57.
    /// - Returns: The bytes before and behind.
    package static func pngFrame(bytes count: Int) -> (start: Data, end: Data) {
        let length = withUnsafeBytes(of: UInt32(count - pngHead.count - 12).bigEndian) { Data($0) }
        // Nobody checks the chunk's sum.
        return (pngHead.dropLast(12) + length + Data("IDAT".utf8), Data(count: 4) + pngHead.suffix(12))
    }

    /// Real photos of a few hundred bytes, of all formats, by their files' names.
    ///
    /// A name has the size in pixels, as `turned-17x31.jpg`.
    package static func samples() throws -> [(name: String, bytes: Data)] {
        let folder = ProjectFolder.root.appending(path: "Tests/ImageFilesTests/Samples")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, try Data(contentsOf: folder.appending(path: name)))
        }
    }
}
