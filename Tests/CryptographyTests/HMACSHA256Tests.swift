import CLibCrypto
import TestSupport
import Testing

@testable import Cryptography

@Suite("Message authentication codes")
struct HMACSHA256Tests {
    @Test("They are libcrypto's for keys and messages of any length", arguments: [0, 1, 31, 32, 63, 64, 65, 128, 1000])
    func code(keyLength: Int) {
        var random = SplitMix64(seed: UInt64(keyLength))
        let key = (0..<keyLength).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
        let authenticator = HMACSHA256(key: key)
        for length in Array(0..<130) + [1000, 10_000] {
            let message = (0..<length).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
            var expected = [UInt8](repeating: 0, count: 32)
            HMAC(EVP_sha256(), key, CInt(key.count), message, message.count, &expected, nil)
            let code = message.withUnsafeBytes { authenticator.code(of: $0) }
            #expect(Array(code) == expected)
            #expect(authenticator.code(of: message) == code)
            let middle = Int.random(in: 0...length, using: &random)
            let parts = [message[..<middle], [], message[middle...]]
            let codeOfParts = authenticator.code { hash in for part in parts { hash.update(part) } }
            #expect(codeOfParts == code)
        }
    }

    @Test("The codes of RFC 4231 come out, test cases 1 and 6")
    func vectors() {
        let first = HMACSHA256(key: [UInt8](repeating: 0x0B, count: 20)).code(of: "Hi There".utf8)
        #expect(first.digits == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        let key = [UInt8](repeating: 0xAA, count: 131)
        let sixth = HMACSHA256(key: key).code(of: "Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        #expect(sixth.digits == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }
}

extension Sequence<UInt8> {
    /// Two lower-case digits for each byte.
    var digits: String {
        map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0\(text)" : text
        }.joined()
    }
}
