import Testing

@testable import Cryptography

@Suite("AES in Galois/Counter Mode")
struct AESGCMTests {
    private static let box = AESGCM(secret: "a secret", purpose: "a purpose")

    @Test("What is sealed can be opened, whatever its length", arguments: [0, 1, 15, 16, 17, 1_000])
    func roundTrip(length: Int) throws {
        let message = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = try Self.box.seal(message)
        #expect(sealed.count == 12 + length + 16)
        #expect(try Self.box.open(sealed) == message)
    }

    @Test("The same message is sealed differently each time")
    func nonces() throws {
        #expect(try Self.box.seal([1, 2, 3]) != Self.box.seal([1, 2, 3]))
    }

    @Test("A change of any byte is noticed")
    func changes() throws {
        let sealed = try Self.box.seal(Array("ada@example.com".utf8))
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: CryptographyError.failed) { try Self.box.open(changed) }
        }
        for length in 0..<sealed.count {
            #expect(throws: CryptographyError.failed) { try Self.box.open(Array(sealed.prefix(length))) }
        }
    }

    @Test("Another secret or purpose does not open it")
    func keys() throws {
        let sealed = try Self.box.seal([1])
        for box in [AESGCM(secret: "a secret", purpose: "another"), AESGCM(secret: "another", purpose: "a purpose")] {
            #expect(throws: CryptographyError.failed) { try box.open(sealed) }
        }
    }

    /// By Python's `cryptography`: `AESGCM(hmac.digest(b"a secret", b"a purpose", "sha256")).encrypt(bytes(12), b"Ada", None)`.
    @Test("Another implementation has sealed a message")
    func vector() throws {
        #expect(try Self.box.open([UInt8](repeating: 0, count: 12) + Self.known) == Array("Ada".utf8))
    }

    private static let known: [UInt8] = [
        41, 132, 247, 169, 53, 120, 226, 0, 238, 95, 215, 161, 87, 81, 250, 96, 150, 171, 61,
    ]
}
