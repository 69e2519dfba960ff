import Testing

@testable import ImageFiles

@Suite("An image's format, by its leading bytes")
struct ImageFormatTests {
    struct Sample: CustomTestStringConvertible {
        let format: ImageFormat
        let magic: [UInt8]

        var testDescription: String { "\(format)" }

        init(_ format: ImageFormat, _ magic: [UInt8]) {
            self.format = format
            self.magic = magic
        }

        /// A file type box: its size, major brand, minor version, compatible brands.
        init(_ format: ImageFormat, brands: [String], size: UInt8? = nil) {
            let box = Array("ftyp\(brands[0])".utf8) + [0, 0, 0, 0] + brands.dropFirst().joined().utf8
            self.init(format, [0, 0, 0, size ?? UInt8(box.count + 4)] + box)
        }
    }

    private static let samples = [
        Sample(.jpeg, [0xFF, 0xD8, 0xFF]),
        Sample(.png, [0x89] + Array("PNG\r\n\u{1A}\n".utf8)),
        Sample(.gif, Array("GIF87a".utf8)),
        Sample(.gif, Array("GIF89a".utf8)),
        Sample(.webp, Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBP".utf8)),
        Sample(.heic, brands: ["heic"]),
        Sample(.heic, brands: ["heix", "mif1", "heic"]),
        Sample(.heic, brands: ["mif1", "mif1", "heic"]),
        Sample(.heic, brands: ["msf1", "hevc"]),
        Sample(.heif, brands: ["mif1"]),
        Sample(.heif, brands: ["msf1", "miaf"]),
        Sample(.avif, brands: ["avif", "mif1", "miaf"]),
        Sample(.avif, brands: ["avis"]),
        Sample(.avif, brands: ["mif1", "miaf", "avif"]),
    ]

    @Test("Each format is recognised by its first bytes, whatever follows", arguments: samples)
    func known(sample: Sample) {
        #expect(ImageFormat(leadingBytes: sample.magic) == sample.format)
        #expect(ImageFormat(leadingBytes: sample.magic + [UInt8](repeating: 0, count: 200)) == sample.format)
    }

    @Test("A file type box is needed whole, and no prefix of any other magic will do", arguments: samples)
    func truncated(sample: Sample) {
        let minBytes = sample.magic.dropFirst(4).starts(with: "ftyp".utf8) ? 16 : sample.magic.count
        for count in 0..<minBytes {
            #expect(ImageFormat(leadingBytes: sample.magic.prefix(count)) == nil, "\(count) bytes")
        }
    }

    @Test(
        "Nothing else is a photo",
        arguments: [
            [], Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), Array("<html>".utf8), Array("%PDF-1.7".utf8),
            [0, 0, 0, 16] + Array("moovheic".utf8) + [0, 0, 0, 0], Array("BM6\u{0}".utf8), Array("II*\u{0}".utf8),
            Array("GIF88a".utf8),
            Array("RIFF\u{1}\u{1}\u{1}\u{1}WAVE".utf8),
            Array("\u{FEFF}GIF89a".utf8), [0xFF, 0xD8, 0xFE], Array("GIF89".utf8),
            Sample(.heic, brands: ["isom", "mp42"]).magic, Sample(.heic, brands: ["qt  "]).magic,
            Sample(.heic, brands: ["isom", "mif1"]).magic,
        ] as [[UInt8]]
    )
    func unknown(bytes: [UInt8]) {
        #expect(ImageFormat(leadingBytes: bytes) == nil)
    }

    @Test("Brands count only within the file type box, whatever size it claims", arguments: [0, 8, 15, 16, 20, 255])
    func boxSize(size: UInt8) {
        let sample = Sample(.heic, brands: ["mif1", "miaf", "heic"], size: size)
        let expected: ImageFormat? =
            switch size {
            case ..<16: nil
            case ..<24: .heif
            default: .heic
            }
        #expect(ImageFormat(leadingBytes: sample.magic) == expected)
    }

    @Test("A box that claims four gigabytes is looked at no further than its prefix")
    func hugeBox() {
        let bytes = [0xFF, 0xFF, 0xFF, 0xFF] + Sample(.heic, brands: ["heic"]).magic.dropFirst(4)
        #expect(ImageFormat(leadingBytes: bytes + [UInt8](repeating: 0xFF, count: 1000)) == .heic)
    }
}
