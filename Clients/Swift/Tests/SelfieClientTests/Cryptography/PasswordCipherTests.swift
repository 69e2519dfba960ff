import Testing

@testable import SelfieClient

@Suite("Passwords")
struct PasswordCipherTests {
    @Test(
        "are encrypted as the service expects",
        arguments: [
            ("p4ssw0rd", "top secret message", "EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk="),
            ("p4ssw0rd", "", "EhZ0YqrAtgPwlW4/J77LmQ=="),
            ("p4ssw0rd", "sixteen letters!", "+Dp+XbuOrHDKHuIc1gXuRKtspM7PN1d+Xp9vHwUWVk4="),
            ("p4ssw0rd", "Grüße, 世界 🤳", "nePP4tAIxV0MIrmQMuqIRWvDz/fId24ZEhnQ9imK8CA="),
            ("Schlüssel 🔑", "my password", "3p2Q5/4L44rSHEjW2IfF4Q=="),
        ]
    )
    func vectors(passphrase: String, password: String, encrypted: String) throws {
        let cipher = PasswordCipher(passphrase: passphrase)
        #expect(try cipher.encrypt(password) == encrypted)
        #expect(cipher.decrypt(encrypted + "\n") == password)
        #expect(PasswordCipher(passphrase: "another").decrypt(encrypted) == nil)
    }
}
