import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

/// A place from which a request comes, behind a proxy.
func from(_ address: String) -> [(String, String)] { [("X-Forwarded-For", address)] }

extension TestService {
    /// The settings of a service that sees the places of requests.
    static let behindProxy = ["TRUSTED_PROXIES": "1"]

    /// Asks for a code, and expects the usual answer.
    func requestCode(_ email: String, for purpose: String = "signin", _ headers: [(String, String)] = []) async throws {
        let answer = try await askForCode(email, for: purpose, headers)
        #expect(answer.text == #"{"status":200,"message":"Code sent, if there is such an account"}"#)
    }

    func askForCode(
        _ email: String,
        for purpose: String = "signin",
        _ headers: [(String, String)] = []
    ) async throws -> HTTPAnswer {
        try await sendForm(
            "POST",
            "/api/request_code",
            authorization: Self.basic,
            [("email", email), ("purpose", purpose)],
            headers: headers
        )
    }

    /// Signs in with a code.
    func signIn(_ email: String, code: String, _ headers: [(String, String)] = []) async throws -> HTTPAnswer {
        try await sendForm(
            "POST",
            "/api/signin",
            authorization: Self.basic,
            [("email", email), ("code", code)],
            headers: headers
        )
    }

    /// Chooses a new password with a code.
    func recover(
        _ email: String,
        code: String,
        password: String = "another password",
        _ headers: [(String, String)] = []
    ) async throws -> HTTPAnswer {
        try await sendForm(
            "POST",
            "/api/recover_password",
            authorization: Self.basic,
            [("email", email), ("code", code), ("new_password", try Self.encrypt(password))],
            headers: headers
        )
    }

    /// Calls the API with a user's token, and parameters as a form.
    func form(_ target: String, token: String, _ parameters: [(String, String)]) async throws -> HTTPAnswer {
        try await sendForm("POST", target, authorization: tokenHeader(token), parameters)
    }

    /// Asks for a code to a new address with the password.
    func changeEmail(_ email: String, token: String, password: String = "my password") async throws -> HTTPAnswer {
        try await form(
            "/api/change_email",
            token: token,
            [("email", email), ("password", try Self.encrypt(password))]
        )
    }

    /// Changes an address to the end.
    func moveEmail(to email: String, token: String, password: String = "my password") async throws {
        let count = mails.codeCount(to: email)
        let begun = try await changeEmail(email, token: token, password: password)
        #expect(begun.text == #"{"status":200,"message":"Code sent"}"#)
        let code = try await mails.code(to: email, number: count + 1)
        let answer = try await form("/api/confirm_email", token: token, [("code", code)])
        #expect(answer.status == 200 && answer.json["email"] as? String == email, "\(answer.text)")
    }

    /// Whether a token still works.
    func isAlive(_ token: String) async throws -> Bool { try await list(token: token).status == 200 }

    /// A code that is not the right one.
    static func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }

    /// The text of each mail to an address that has no code, by its subject.
    func subjects(to address: String) -> [String] {
        mails.lines(to: address).filter { !$0.hasPrefix("your code is ") }
    }
}

extension TestMails {
    /// How many codes an address has got.
    func codeCount(to address: String) -> Int { lines(to: address).count { $0.hasPrefix("your code is ") } }
}

extension HTTPAnswer {
    var token: String? { json["api_authtoken"] as? String }

    var isInvalidCode: Bool {
        text == #"{"status":401,"message":"Wrong or expired code","code":"code_invalid"}"#
    }
}

extension TestService {
    func signUpWithoutPassword(_ email: String = "ada@example.com") async throws -> HTTPAnswer {
        try await sendForm(
            "POST",
            "/api/signup",
            authorization: Self.basic,
            [("full_name", "Ada Lovelace"), ("email", email)]
        )
    }

    /// Makes an account without a password, and signs in with its code.
    func makeTokenWithoutPassword(_ email: String = "ada@example.com") async throws -> String {
        let up = try await signUpWithoutPassword(email)
        #expect(up.status == 200, "\(up.text)")
        return try #require(try await signIn(email, code: try await mails.code(to: email)).token)
    }
}
