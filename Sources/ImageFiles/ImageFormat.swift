/// The image formats that are known.
///
/// The leading bytes decide, never what the client says.
package enum ImageFormat: String, CaseIterable, Sendable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case gif = "image/gif"
    case webp = "image/webp"
    case heic = "image/heic"
    case heif = "image/heif"
    case avif = "image/avif"

    /// How many leading bytes are needed: enough for a file type box with its first brands.
    package static let prefixBytes = 64

    /// The media type to serve the image with.
    package var contentType: String { rawValue }

    /// The file name extensions of this format, the usual one first.
    package var fileExtensions: [String] {
        switch self {
        case .jpeg: ["jpg", "jpeg", "jpe", "jfif"]
        case .png: ["png"]
        case .gif: ["gif"]
        case .webp: ["webp"]
        case .heic: ["heic", "heif"]
        case .heif: ["heif", "heic"]
        case .avif: ["avif"]
        }
    }

    /// Recognises the format of an image.
    ///
    /// Sources: WHATWG MIME Sniffing, section 6.1 "Matching an image type pattern". For HEIC and AVIF: the file type
    /// box of ISO/IEC 14496-12, section 4.3. The brands are of ISO/IEC 23008-12 and of the AVIF specification.
    ///
    /// Nil for anything else.
    ///
    /// - Parameter bytes: The file's first `prefixBytes` bytes, or all of a smaller one.
    package init?(leadingBytes bytes: some Collection<UInt8>) {
        let bytes = Array(bytes.prefix(Self.prefixBytes))
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) {
            self = .gif
        } else if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
            self = .webp
        } else if let format = Self.format(ofFileTypeBox: bytes) {
            self = format
        } else {
            return nil
        }
    }

    /// The major brand decides.
    ///
    /// If it is a general one, the compatible brands decide.
    private static func format(ofFileTypeBox bytes: [UInt8]) -> ImageFormat? {
        guard bytes.count >= 16, bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        let size = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        let end = min(size, bytes.count)
        guard end >= 16 else { return nil }
        let offsets = [8] + Array(stride(from: 16, through: end - 4, by: 4))
        let brands = offsets.map { String(decoding: bytes[$0..<($0 + 4)], as: UTF8.self) }
        return brands.lazy.compactMap { formatsByBrand[$0] }.first
            ?? (generalBrands.contains(brands[0]) ? .heif : nil)
    }

    private static let formatsByBrand: [String: ImageFormat] = [
        "avif": .avif, "avis": .avif,
        "heic": .heic, "heix": .heic, "heim": .heic, "heis": .heic, "hevc": .heic, "hevx": .heic,
    ]

    private static let generalBrands: Set<String> = ["mif1", "msf1"]
}
