import Foundation
import TestSupport
import Testing

@testable import AESCrypt

@Suite("AESCrypt")
struct AESCryptTests {
    let cipher = AESCrypt(passphrase: "p4ssw0rd")
    let vector = "EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk="

    @Test("The known vector encrypts as the pod and the gem do")
    func knownVector() throws {
        #expect(try cipher.encrypt(Array("top secret message".utf8)) == vector)
    }

    @Test(
        "White space, line breaks and missing padding are accepted",
        arguments: [
            "EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk=",
            "EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk",
            "EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk=\n",
            "  EQyz+ukU+ss+Sinf15bA\r\n\tpdYj5ANrRwY632v8EhrzLPk= ",
        ]
    )
    func lenientBase64(text: String) throws {
        #expect(try cipher.decrypt(text) == Array("top secret message".utf8))
    }

    @Test("Messages of every length around the block size come back", arguments: 0...49)
    func roundTrip(length: Int) throws {
        let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        #expect(try cipher.decrypt(try cipher.encrypt(message)) == message)
    }

    @Test("A message longer than 60 base64 characters survives the gem's wrapping")
    func wrapped() throws {
        let message = Array("a passphrase that is long enough for the gem to wrap it over two lines".utf8)
        let text = try cipher.encrypt(message)
        #expect(text.count > 60)
        let wrapped = text.prefix(60) + "\n" + text.dropFirst(60) + "\n"
        #expect(try cipher.decrypt(String(wrapped)) == message)
    }

    @Test(
        "Whatever is not a whole ciphertext is refused with the same error",
        arguments: [
            "", "=", "A", "AAAA", "not base64 !", "EQyz+ukU+ss+Sinf15bApQ==",
            "EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8Ehrz",
            "ÄÖÜ", "EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk=EQyz", "\u{0}",
        ]
    )
    func malformed(text: String) {
        #expect(throws: AESCryptError()) { try cipher.decrypt(text) }
    }

    @Test(
        "The operator learns why a message can't be decrypted",
        arguments: [
            ("not base64 !", .notBase64), ("my-password_", .notBase64), ("6d79", .notWholeBlocks),
            ("", .notWholeBlocks), ("EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8Ehrz", .notWholeBlocks),
            ("EQyz ukU ss Sinf15bApdYj5ANrRwY632v8EhrzLPk=", .plusBecameSpace),
            ("EQyz ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk=", .plusBecameSpace),
            ("EQyz ukU ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk", .plusBecameSpace),
            ("7E7lPZsqj0DgtsX2yh  gA==\n", .plusBecameSpace), ("my own password is here", .notBase64),
            ("110cb3fae914facfd2d9e5e0a5d623e4", .notBase64),
            ("110CB3FAE914FACFD2D9E5E0A5D623E4110CB3FAE914FACFD2D9E5E0A5D623E4", .notBase64),
            ("EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLZk=", .otherKey),
            ("7E7lPZsqj0DgtsX2yhG1gA==", .otherKey), ("EQyz+ukU+ss+Sinf15bApQ==\n", .otherKey),
        ] as [(String, AESCryptFailure)]
    )
    func failures(text: String, failure: AESCryptFailure) {
        #expect(throws: AESCryptError()) { try cipher.decrypt(text) }
        #expect(cipher.failure(of: text) == failure)
    }

    @Test("Another passphrase does not decrypt to the message")
    func wrongPassphrase() {
        let other = AESCrypt(passphrase: "p4ssw0rd ")
        #expect((try? other.decrypt(vector)) != Array("top secret message".utf8))
    }

    @Test("Of all ways to change the last byte of the padding, only the one that makes another padding is taken")
    func padding() throws {
        // Sixteen bytes and a whole block of padding: a change of the first block changes the same bit of the second.
        let bytes = [UInt8](try #require(Data(base64Encoded: try cipher.encrypt(Array(repeating: 65, count: 16)))))
        #expect(bytes.count == 32)
        for change in UInt8(1)...255 {
            var changed = bytes
            changed[15] ^= change
            let text = Data(changed).base64EncodedString()
            if 16 ^ change == 1 {
                #expect(try cipher.decrypt(text).count == 31)
            } else {
                #expect(throws: AESCryptError()) { try cipher.decrypt(text) }
            }
        }
        // A padding of sixteen of which any other byte is not sixteen.
        for index in 0..<15 {
            var changed = bytes
            changed[index] ^= 1
            #expect(throws: AESCryptError()) { try cipher.decrypt(Data(changed).base64EncodedString()) }
        }
    }

    @Test("Random changes of a ciphertext's text never crash, and accepted ones are whole blocks", arguments: 0..<8)
    func mutations(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("ABCxyz019+/= \r\n\t-_\u{0}ü".utf8)
        var takenCount = 0
        for _ in 0..<500 {
            var text = Array(
                try cipher.encrypt(Array(repeating: 65, count: Int.random(in: 0...40, using: &random))).utf8
            )
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let index = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text.remove(at: index)
                case 1: text.insert(alphabet[Int.random(in: 0..<alphabet.count, using: &random)], at: index)
                default: text[index] = alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                }
            }
            if let message = try? cipher.decrypt(String(decoding: text, as: UTF8.self)) {
                takenCount += 1
                #expect(message.count <= 48)
            }
        }
        #expect(takenCount > 50 && takenCount < 500)
    }
}
