import Foundation

/// The formats of photos, as their leading bytes tell.
enum PhotoFormat: String, Sendable {
    case jpeg, png, gif, webp, heic, avif

    /// The format of a file.
    ///
    /// - Returns: nil if it is no photo.
    init?(_ bytes: Data) {
        let head = [UInt8](bytes.prefix(12))
        func text(_ range: Range<Int>) -> String {
            range.upperBound <= head.count ? String(decoding: head[range], as: UTF8.self) : ""
        }
        switch true {
        case head.starts(with: [0xFF, 0xD8, 0xFF]): self = .jpeg
        case head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]): self = .png
        case text(0..<4) == "GIF8": self = .gif
        case text(0..<4) == "RIFF" && text(8..<12) == "WEBP": self = .webp
        case text(4..<8) == "ftyp" && ["avif", "avis"].contains(text(8..<12)): self = .avif
        case text(4..<8) == "ftyp" && ["heic", "heix", "mif1", "msf1"].contains(text(8..<12)): self = .heic
        default: return nil
        }
    }

    var contentType: String { "image/\(rawValue)" }

    /// Width and height in pixels.
    ///
    /// - Returns: nil if they are not known: only those of PNG files are read.
    func size(of bytes: Data) -> (width: Int, height: Int)? {
        guard self == .png, bytes.count >= 24 else { return nil }
        let numbers = [16, 20].map { start in
            bytes.dropFirst(start).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        }
        return (numbers[0], numbers[1])
    }
}
