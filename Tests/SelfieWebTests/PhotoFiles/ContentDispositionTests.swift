import Foundation
import ImageFiles
import TestSupport
import Testing

@testable import SelfieCore
@testable import SelfieWeb

@Suite("The name under which a photo is saved")
struct ContentDispositionTests {
    private static let allNames: [(name: String, format: ImageFormat?, header: String)] = [
        ("photo", .jpeg, #"inline; filename="photo.jpg""#), ("photo.jpg", .jpeg, #"inline; filename="photo.jpg""#),
        ("IMG_0001.JPEG", .jpeg, #"inline; filename="IMG_0001.JPEG""#), ("", .png, #"inline; filename="photo.png""#),
        ("my photo (1).webp", .webp, #"inline; filename="my photo (1).webp""#),
        ("page.html", .jpeg, #"inline; filename="page.html.jpg""#), ("a.png", .gif, #"inline; filename="a.png.gif""#),
        ("a.heif", .heic, #"inline; filename="a.heif""#), ("a", .heif, #"inline; filename="a.heif""#),
        ("a", .avif, #"inline; filename="a.avif""#), ("a", nil, #"inline; filename="a.bin""#),
        ("a.exe", nil, #"inline; filename="a.exe.bin""#), ("a.jpg.", .jpeg, #"inline; filename="a.jpg""#),
        (".htaccess", .jpeg, #"inline; filename="htaccess.jpg""#), ("..", .jpeg, #"inline; filename="photo.jpg""#),
        ("../../etc/passwd", .jpeg, #"inline; filename="passwd.jpg""#),
        ("C:\\Users\\me\\cat.jpg", .jpeg, #"inline; filename="cat.jpg""#),
        ("/", .jpeg, #"inline; filename="photo.jpg""#),
        ("a\"; x=\"b.jpg", .jpeg, ##"inline; filename="a__ x__b.jpg"; filename*=UTF-8''a%22%3B%20x%3D%22b.jpg"##),
        ("a%41.jpg", .jpeg, #"inline; filename="a_41.jpg"; filename*=UTF-8''a%2541.jpg"#),
        (
            "a\r\nSet-Cookie: b=c.jpg", .jpeg,
            #"inline; filename="aSet-Cookie_ b_c.jpg"; filename*=UTF-8''aSet-Cookie%3A%20b%3Dc.jpg"#
        ),
        ("a\0b\u{7F}\u{85}.jpg", .jpeg, #"inline; filename="ab.jpg""#),
        // Shown as "photogpj.exe" and the like where the direction is overridden.
        ("photo\u{202E}gpj.exe", .jpeg, #"inline; filename="photogpj.exe.jpg""#),
        ("\u{2066}a\u{2069}\u{200B}\u{FEFF}.jpg", .jpeg, #"inline; filename="a.jpg""#),
        ("a\u{2028}b.jpg", .jpeg, #"inline; filename="ab.jpg""#),
        ("Grüße.jpg", .jpeg, #"inline; filename="Gr__e.jpg"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.jpg"#),
        ("写真", .png, #"inline; filename="__.png"; filename*=UTF-8''%E5%86%99%E7%9C%9F.png"#),
        ("🤳.jpg", .jpeg, #"inline; filename="_.jpg"; filename*=UTF-8''%F0%9F%A4%B3.jpg"#),
    ]

    @Test("It is safe, and ends as the photo's format does", arguments: allNames)
    func names(name: String, format: ImageFormat?, header: String) {
        #expect(ContentDisposition.inline(fileName: name, format: format) == header)
    }

    @Test("A long name is cut, and keeps its format's ending")
    func long() {
        let header = ContentDisposition.inline(fileName: String(repeating: "ü", count: 255) + ".jpg", format: .jpeg)
        #expect(header.contains("filename=\"\(String(repeating: "_", count: 100)).jpg\""))
        #expect(header.hasSuffix("%C3%BC.jpg"))
    }

    @Test("No name breaks out of the header", arguments: 0..<200)
    func anyName(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let scalars = (0..<40).map { _ -> Unicode.Scalar in
            let value = UInt32.random(in: 0...(Bool.random(using: &random) ? 0x7F : 0x2FFF), using: &random)
            return Unicode.Scalar(value) ?? "/"
        }
        let header = ContentDisposition.inline(fileName: String(String.UnicodeScalarView(scalars)), format: .png)
        let form =
            /inline; filename="[A-Za-z0-9 ()+,._-]+\.png"(; filename\*=UTF-8''(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+)?/
        #expect(header.wholeMatch(of: form) != nil, "\(header)")
        #expect(!header.contains("%2F") && !header.contains("%5C") && !header.contains("%0"))
    }
}
