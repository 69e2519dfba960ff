import Foundation
import NIOCore
import Testing

@testable import Encodings
@testable import SelfieCore
@testable import SelfieWeb

@Suite("A photo's JSON")
struct PhotoJSONTests {
    private let urls = PhotoURLSigner(secret: String(repeating: "s", count: 64), minLifetime: 86_400)
        .day(of: Date(timeIntervalSince1970: 1_800_000_000), origin: "http://127.0.0.1:3998")

    @Test("It is the same to the byte in every version, so that what clients have cached stays good")
    func bytes() {
        let photos = [
            Photo(name: "a\"b\\c.jpg", title: "\u{1}\u{1F}\n\r\t\u{7F}ü😀", randomID: "x/y z?ü%"),
            Photo(name: "", title: "", randomID: ""),
        ]
        var json = JSONWriter()
        json.array(photos) { json, photo in json.object { photo.write(to: &$0, urls: urls) } }
        let expected =
            #"[{"name":"a\"b\\c.jpg","title":"\u0001\u001f\n\r\t"# + "\u{7F}" + #"ü😀","image_url":"#
            + #""http://127.0.0.1:3998/photos/x%2Fy%20z%3F%C3%BC%25?expires=1800144000&signature="#
            + #"TOh2PqrqW8ARE-ae5xJ6sw3kmsEXDkQwuquujUDCWTY","random_id":"x/y z?ü%"},"#
            + #"{"name":"","title":"","image_url":"http://127.0.0.1:3998/photos/?expires=1800144000&signature="#
            + #"mLIM_pbZSWowQvJVW7dPLVrmwDIf9ak5E9zWFCqTgyA","random_id":""}]"#
        #expect(String(buffer: json.buffer) == expected)
    }

    @Test("The tag of a list is the same in every version, and another for each contents")
    func tag() {
        let contents = [UInt8](repeating: 7, count: 2000)
        #expect(urls.code(of: contents) == "DDhZLGqGP_zD_7cCZMSEQsHdhAZzEhMrf4HU7LGS_AY")
        #expect(urls.code(of: contents) != urls.code(of: contents + [7]))
    }
}
