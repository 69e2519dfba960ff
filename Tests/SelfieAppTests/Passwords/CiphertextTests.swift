import AESCrypt
import Foundation
import ServiceTestSupport
import Testing

@Suite("Encrypted passwords")
struct CiphertextTests {
    private static let password = "my long password of two blocks"

    /// Nothing that can be decrypted to a text, each in its own way.
    private static func undecryptable() throws -> [(name: String, text: String)] {
        let cipher = AESCrypt(passphrase: TestService.apiPassword)
        let right = try TestService.encrypt(password)
        let bytes = try #require(Data(base64Encoded: right))
        return [
            ("empty", ""), ("white space", " \n"), ("the password in the clear", password), ("not base64", "!!!!"),
            ("no whole block", Data(bytes.dropLast()).base64EncodedString()), ("one letter", "A"),
            ("one byte too many", Data(bytes + [0]).base64EncodedString()), ("only padding", "===="),
            ("the last block is missing", Data(bytes.dropLast(16)).base64EncodedString()),
            ("bad padding", Data(repeating: 0, count: 16).base64EncodedString()),
            ("another key", try AESCrypt(passphrase: "another").encrypt(Array(password.utf8))),
            ("not UTF-8", try cipher.encrypt([0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0xFA, 0xF9])),
            ("UTF-8 cut short", try cipher.encrypt(Array(password.utf8) + [0xC3])),
            ("surrogates", try cipher.encrypt(Array(password.utf8) + [0xED, 0xA0, 0x80])),
            ("base64url", right.replacing("+", with: "-").replacing("/", with: "_") + "-_"), ("NUL", right + "\0"),
        ]
    }

    @Test("Undecryptable passwords get one and the same refusal, whatever is wrong", .timeLimit(.minutes(2)))
    func undecryptable() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken(password: Self.password)
            let right = try TestService.encrypt(Self.password)
            for (name, text) in try Self.undecryptable() {
                try await service.check([
                    Scenario(
                        "signup: \(name)",
                        "POST /api/signup",
                        authorization: TestService.basic,
                        .form([("full_name", "A"), ("email", "new@example.com"), ("password", text)]),
                        status: 400,
                        message: Refusal.passwordTooShort
                    ),
                    Scenario(
                        "signin: \(name)",
                        "POST /api/signin",
                        authorization: TestService.basic,
                        .form([("email", "ada@example.com"), ("password", text)]),
                        status: 401,
                        message: Refusal.wrongCredentials,
                        event: "sign_in_failed"
                    ),
                    Scenario(
                        "reset from: \(name)",
                        "POST /api/reset_password",
                        authorization: tokenHeader(token),
                        .form([("old_password", text), ("new_password", right)]),
                        status: 401,
                        message: Refusal.wrongPassword,
                        event: "password_reset_failed"
                    ),
                    Scenario(
                        "reset to: \(name)",
                        "POST /api/reset_password",
                        authorization: tokenHeader(token),
                        .form([("old_password", right), ("new_password", text)]),
                        status: 400,
                        message: Refusal.passwordTooShort
                    ),
                ])
            }
        }
    }

    @Test("A bit flipped, in any byte, is refused", .timeLimit(.minutes(2)))
    func flippedBits() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com", password: Self.password)
            let bytes = try #require(Data(base64Encoded: try TestService.encrypt(Self.password)))
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 1 << (index % 8)
                let text = changed.base64EncodedString()
                try await service.check([
                    Scenario(
                        "signin, byte \(index)",
                        "POST /api/signin",
                        authorization: TestService.basic,
                        .form([("email", "ada@example.com"), ("password", text)]),
                        status: 401,
                        message: Refusal.wrongCredentials,
                        event: "sign_in_failed"
                    ),
                    Scenario(
                        "signup, byte \(index)",
                        "POST /api/signup",
                        authorization: TestService.basic,
                        .form([("full_name", "A"), ("email", "new@example.com"), ("password", text)]),
                        status: 400,
                        message: Refusal.passwordTooShort
                    ),
                ])
            }
        }
    }

    @Test("The forms of the pod and of the gem are both taken")
    func accepted() async throws {
        try await TestService.run { service in
            let password = String(repeating: "long ", count: 12) + "!"
            _ = try await service.signUp(email: "ada@example.com", password: password)
            let pod = try TestService.encrypt(password)
            let wrapped = String(pod.prefix(60)) + "\n" + String(pod.dropFirst(60)) + "\n"
            for text in [
                pod, wrapped, " \(pod)\r\n", pod.replacing("=", with: ""), wrapped.replacing("\n", with: "\r\n"),
            ] {
                let payloads = Scenario.Payload.allForms(of: [("email", "ada@example.com"), ("password", text)])
                // JSON and a form; the others are read alike.
                for (name, payload) in [payloads[0], payloads[3]] {
                    try await service.check(
                        Scenario(
                            "\(name): \(text)",
                            "POST /api/signin",
                            authorization: TestService.basic,
                            payload,
                            contains: [#""api_authtoken":""#]
                        )
                    )
                }
            }
        }
    }
}
