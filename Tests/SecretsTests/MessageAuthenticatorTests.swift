import Crypto
import Foundation
import TestSupport
import Testing

@testable import Secrets

@Suite("Message authentication codes")
struct MessageAuthenticatorTests {
    @Test("They are HMAC-SHA256 for keys and messages of any length", arguments: [0, 1, 31, 32, 63, 64, 65, 128, 1000])
    func code(keyLength: Int) {
        var random = SplitMix64(seed: UInt64(keyLength))
        let key = (0..<keyLength).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
        let authenticator = MessageAuthenticator(key: key)
        for length in Array(0..<130) + [1000, 10_000] {
            let message = (0..<length).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
            let expected = HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key))
            let code = message.withUnsafeBytes { authenticator.code(of: $0) }
            #expect(Array(code) == Array(expected))
            let middle = Int.random(in: 0...length, using: &random)
            let parts = [message[..<middle], [], message[middle...]]
            let codeOfParts = authenticator.code { hash in
                for part in parts { part.withUnsafeBytes { hash.update(bufferPointer: $0) } }
            }
            #expect(codeOfParts == code)
        }
    }
}
