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

    @Test("Another passphrase does not decrypt to the message")
    func wrongPassphrase() {
        let other = AESCrypt(passphrase: "p4ssw0rd ")
        #expect((try? other.decrypt(vector)) != Array("top secret message".utf8))
    }
}
