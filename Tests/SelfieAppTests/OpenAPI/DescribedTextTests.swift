import ConnectionTestSupport
import Foundation
import JSON
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Texts as the API's description has them")
struct DescribedTextTests {
    /// All control characters: U+0000 to U+001F and U+007F to U+009F.
    private static let controls = (Array(0x00...0x1F) + Array(0x7F...0x9F)).compactMap { Unicode.Scalar($0 as UInt32) }
    private static let inTitles: Set<UInt32> = [0x09, 0x0A, 0x0D]
    private static let inNames: Set<UInt32> = [0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85]

    private static func member(_ name: String, of mediaType: String, _ method: String, _ path: String) -> JSONValue? {
        let operation = APIDescription.document["paths"]?[path]?[method]
        return operation?["requestBody"]?["content"]?[mediaType]?["schema"]?["properties"]?[name]
    }

    private static func regex(_ pattern: JSONValue?) throws -> Regex<AnyRegexOutput> {
        guard case .string(let pattern)? = pattern else { throw UnexpectedKind() }
        return try Regex(pattern).matchingSemantics(.unicodeScalar)
    }

    private struct UnexpectedKind: Error {}

    /// The control characters that a text may have by a regular expression for those that it may not.
    private static func allowed(by schema: JSONValue?) throws -> Set<UInt32> {
        let refused = try regex(schema?["not"]?["pattern"])
        return Set(controls.filter { "a\($0)b".firstMatch(of: refused) == nil }.map(\.value))
    }

    @Test("Titles may have lines and tabs, and names white space of any kind")
    func description() throws {
        let photo = Self.member("title", of: "multipart/form-data", "post", "/api/upload_photo")
        #expect(try Self.allowed(by: photo) == Self.inTitles)
        for name in ["title", "last_name"] {
            let member = Self.member(name, of: "application/json", "patch", "/api/me")
            #expect(try Self.allowed(by: member) == Self.inNames, "\(name)")
        }
        let title = Self.member("title", of: "application/json", "post", "/api/signup")
        #expect(try Self.allowed(by: title) == Self.inNames)
        let first = try Self.regex(Self.member("first_name", of: "application/json", "patch", "/api/me")?["pattern"])
        for control in Self.controls {
            let isName = "a\(control)b".firstMatch(of: first) != nil
            #expect(isName == Self.inNames.contains(control.value), "\(control.value)")
            #expect("\(control) \(control)".firstMatch(of: first) == nil, "\(control.value)")
        }
    }

    @Test("The service takes the same")
    func service() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for control in Self.controls {
                let text = "a\(control)b"
                let photo = try await service.upload(TestImage.png(bytes: 64), token: token, title: text)
                #expect(photo.status == (Self.inTitles.contains(control.value) ? 200 : 400), "\(control.value)")
                let digits = String(control.value, radix: 16)
                let escape = #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits
                let json = #"{"title":"a\#(escape)b","first_name":"a\#(escape)b"}"#
                let profile = try await service.call("PATCH", "/api/me", token: token, json: json)
                #expect(profile.status == (Self.inNames.contains(control.value) ? 200 : 400), "\(control.value)")
                if profile.status == 200 {
                    #expect(profile.json["title"] as? String == "a b" && profile.json["first_name"] as? String == "a b")
                }
            }
        }
    }
}
