import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Served formats")
struct ServedFormatTests {
    private static func box(_ brands: String..., type: String = "ftyp", size: Int? = nil) -> Data {
        // Major brand, minor version, compatible brands.
        let content = Data((brands[0] + "\0\0\0\0" + brands.dropFirst().joined()).utf8)
        let size = UInt32(size ?? 8 + content.count)
        return withUnsafeBytes(of: size.bigEndian) { Data($0) } + Data(type.utf8) + content
    }

    private static let contentTypes = [
        "jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp", "heic": "image/heic",
        "avif": "image/avif",
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
        (
            "sixteen bytes that begin like a JPEG",
            Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 16]) + Data("JFIF\0\u{1}\u{1}\0\0\u{1}".utf8)
        ),
        ("the first bytes of a PNG", TestImage.pngHead.prefix(32)), ("a HEIC without pictures", box("heic", "mif1")),
        ("a WebP without a chunk", Data("RIFF\u{C}\0\0\0WEBPVP8 ".utf8)),
        ("a GIF without a screen", Data("GIF89a".utf8)),
    ]

    @Test("A photo of each format is served with its type, and its size is in lists; other files are refused")
    func formats() async throws {
        try await TestService.run(settings: ["PHOTO_METADATA": "keep"]) { service in
            let token = try await service.makeToken()
            for (name, bytes) in try TestImage.samples() {
                let answer = try await service.upload(bytes, token: token, title: name, fileName: "page.html")
                #expect(answer.status == 200, "\(name): \(answer.text)")
                let parts = try #require(name.wholeMatch(of: /\w+-(\d+)x(\d+)\.(\w+)/)).output
                #expect(answer.json["width"] as? Int == Int(parts.1), "\(name)")
                #expect(answer.json["height"] as? Int == Int(parts.2), "\(name)")
                let served = try await service.send("GET", try #require(answer.json["image_url"] as? String))
                #expect(served.status == 200)
                #expect(served.body == bytes, "\(name)")
                #expect(served.headers["content-type"] == Self.contentTypes[String(parts.3)], "\(name)")
                #expect(served.headers["x-content-type-options"] == "nosniff")
                #expect(served.headers["content-security-policy"] == "sandbox")
            }
            let list = try #require(try await service.list(token: token).jsonArray)
            #expect(list.count == 20)
            #expect(list.allSatisfy { $0["width"] is Int && $0["height"] is Int })
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
