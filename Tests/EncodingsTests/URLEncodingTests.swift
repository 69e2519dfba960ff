import Foundation
import TestSupport
import Testing

@testable import Encodings

@Suite("What URLs are made of")
struct URLEncodingTests {
    private func text(_ write: (inout TextBuffer) -> Void) -> String {
        var text = TextBuffer(capacity: 0)
        write(&text)
        return text.string
    }

    @Test("Base64 is Foundation's, with the URL's letters and without padding", arguments: 0..<100)
    func base64(length: Int) {
        var random = SplitMix64(seed: UInt64(length))
        let bytes = (0..<length).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
        let expected = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
        #expect(bytes.withUnsafeBytes { Base64URL.string(of: $0) } == expected)
        #expect(text { text in bytes.withUnsafeBytes { Base64URL.append($0, to: &text) } } == expected)
    }

    @Test("Letters, digits and four marks stay as they are in a path, and any other byte is two digits")
    func percent() {
        let kept = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        for byte in UInt8.min ... .max {
            let isKept = kept.utf8.contains(byte)
            let expected = isKept ? String(decoding: [byte], as: UTF8.self) : String(format: "%%%02X", Int(byte))
            let encoded = text { text in
                [UInt8](repeating: byte, count: 3).withUnsafeBytes { PercentEncoding.append($0, to: &text) }
            }
            #expect(encoded == String(repeating: expected, count: 3))
        }
        #expect(text { text in [UInt8]().withUnsafeBytes { PercentEncoding.append($0, to: &text) } } == "")
    }
}
