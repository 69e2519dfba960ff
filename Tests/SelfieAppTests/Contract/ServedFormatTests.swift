import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import Testing

@Suite("Served formats")
struct ServedFormatTests {
    private static func box(_ brands: String..., type: String = "ftyp", size: Int? = nil) -> Data {
        // Major brand, minor version, compatible brands.
        let content = Data((brands[0] + "\0\0\0\0" + brands.dropFirst().joined()).utf8)
        let size = UInt32(size ?? 8 + content.count)
        return withUnsafeBytes(of: size.bigEndian) { Data($0) } + Data(type.utf8) + content
    }

    private static let photos: [(name: String, bytes: Data, contentType: String)] = [
        ("JPEG", Data([0xFF, 0xD8, 0xFF, 0xE0]), "image/jpeg"), ("Exif", Data([0xFF, 0xD8, 0xFF, 0xE1]), "image/jpeg"),
        ("PNG", Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), "image/png"),
        ("GIF87a", Data("GIF87a".utf8), "image/gif"), ("GIF89a", Data("GIF89a".utf8), "image/gif"),
        ("WebP", Data("RIFF\0\0\0\0WEBPVP8 ".utf8), "image/webp"), ("HEIC", box("heic", "mif1"), "image/heic"),
        ("HEIC by a compatible brand", box("mif1", "mif1", "heic"), "image/heic"), ("HEIF", box("mif1"), "image/heif"),
        ("HEIC with depth", box("heix", "mif1"), "image/heic"), ("AVIF", box("avif", "mif1", "miaf"), "image/avif"),
        ("AVIF by a compatible brand", box("mif1", "avif"), "image/avif"), ("AVIF series", box("avis"), "image/avif"),
    ]

    private static let others: [(name: String, bytes: Data)] = [
        ("BMP", Data("BM".utf8)), ("TIFF", Data("II*\0".utf8)), ("PDF", Data("%PDF-1.7".utf8)),
        ("SVG", Data("<?xml version=\"1.0\"?><svg/>".utf8)), ("HTML", Data("<!DOCTYPE html><script>".utf8)),
        ("GIF88a", Data("GIF88a".utf8)), ("WAV", Data("RIFF\0\0\0\0WAVEfmt ".utf8)),
        ("half a JPEG", Data([0xFF, 0xD8])),
        ("half a PNG", Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A])), ("MP4", box("isom", "mp42")),
        ("QuickTime", box("qt  ")), ("another box", box("heic", type: "free")),
        ("a box of no size", box("heic", size: 8)),
        ("a photo after a space", Data([0x20, 0xFF, 0xD8, 0xFF])), ("a ZIP", Data("PK\u{3}\u{4}".utf8)),
        ("a program", Data([0x7F] + "ELF".utf8)),
    ]

    @Test("The leading bytes tell what a photo is, and what it is served as")
    func formats() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for (name, bytes, contentType) in Self.photos {
                let answer = try await service.upload(bytes, token: token, title: name, fileName: "page.html")
                #expect(answer.status == 200, "\(name): \(answer.text)")
                let served = try await service.send("GET", try #require(answer.json["image_url"] as? String))
                #expect(served.status == 200)
                #expect(served.body == bytes, "\(name)")
                #expect(served.headers["content-type"] == contentType, "\(name)")
                #expect(served.headers["x-content-type-options"] == "nosniff")
                #expect(served.headers["content-security-policy"] == "sandbox")
            }
            let before = try await service.state()
            for (name, bytes) in Self.others {
                let answer = try await service.upload(bytes, token: token, title: name, fileName: "photo.jpg")
                #expect(answer.status == 415, "\(name): \(answer.text)")
                #expect(answer.message == "image - is not a JPEG, PNG, GIF, WebP, HEIC or AVIF photo,")
            }
            #expect(try await service.state() == before)
        }
    }
}
