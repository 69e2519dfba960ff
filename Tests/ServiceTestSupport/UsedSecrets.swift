import AESCrypt
import ConnectionTestSupport
import Foundation
import Synchronization
import Testing

/// The secrets that a test's calls use and get, so that the service's log can be searched for them.
package final class UsedSecrets: Sendable {
    private let secrets: Mutex<Set<String>>

    /// Shorter ones might be in a log by chance.
    private static let minCharacters = 8

    /// - Parameter secrets: Those of the service's own settings.
    init(_ secrets: [String]) {
        self.secrets = Mutex(Set(secrets.filter { $0.count >= Self.minCharacters }))
    }

    /// Notes the credential, the cookie, the passwords and the e-mail of a request, and the tokens and signatures of its answer.
    func note(_ target: String, headers: [(String, String)], body: Data?, _ answer: HTTPAnswer) {
        var found = headers.filter { $0.0.lowercased() == "authorization" }.map { header in
            String(header.1.split(separator: " ").last?.split(separator: "=").last ?? "")
        }
        if answer.body.range(of: Self.tokenName) != nil, let token = answer.json["api_authtoken"] as? String {
            found.append(token)
        }
        let cookies = headers.filter { $0.0.lowercased() == "cookie" }.map(\.1) + [answer.headers["set-cookie"] ?? ""]
        found += cookies.filter { $0.contains("selfie=") }.flatMap { $0.matches(of: /selfie=([A-Za-z0-9]+)/) }.map {
            String($0.output.1)
        }
        let bytes = Data("\(target) ".utf8) + (body.map { $0.count < Self.maxSearchedBytes ? $0 : Data() } ?? Data())
        // Few have any. To look for all in all of them took a thirtieth of the tests' processor time.
        guard Self.words.contains(where: { bytes.range(of: $0) != nil }) else {
            return note(found + signatures(in: answer))
        }
        let sent = String(decoding: bytes, as: UTF8.self)
        let inForms = sent.matches(of: /(?:password|email)=([^&" ]+)/).map { match in
            let value = match.output.1.replacing("+", with: " ")
            return value.removingPercentEncoding ?? String(value)
        }
        let inJSON = sent.matches(of: /(?:password|email)"\s*:\s*"((?:[^"\\]|\\.)+)"/).map { String($0.output.1) }
        for text in inForms + inJSON {
            found.append(text)
            if let plain = try? AESCrypt(passphrase: TestService.apiPassword).decrypt(text) {
                found.append(String(decoding: plain, as: UTF8.self))
            }
        }
        note(found + signatures(in: answer))
    }

    private static let tokenName = Data("api_authtoken".utf8)
    private static let words = [Data("password".utf8), Data("email".utf8)]
    private static let signatureName = Data("ignature=".utf8)

    private func signatures(in answer: HTTPAnswer) -> [String] {
        let location = Data((answer.headers["location"] ?? "").utf8)
        let body = answer.body.count < Self.maxSearchedBytes ? answer.body : Data()
        return [location, body].filter { $0.range(of: Self.signatureName) != nil }
            .map { String(decoding: $0, as: UTF8.self) }
            .flatMap { $0.matches(of: /(?:signature|X-Amz-Signature)=([A-Za-z0-9_-]+)/).map { String($0.output.1) } }
    }

    /// Notes what another client than the tests' own used.
    ///
    /// - Parameter texts: Passwords, cookies, signatures.
    package func note(_ texts: [String]) {
        secrets.withLock { $0.formUnion(texts.filter { $0.count >= Self.minCharacters }) }
    }

    private static let maxSearchedBytes = 100_000

    /// Expects that a log holds none of them.
    ///
    /// - Parameter log: All lines.
    package func expectNone(in log: String) {
        for secret in secrets.withLock({ $0 }) where log.contains(secret) {
            Issue.record("the log holds a secret that begins with \(secret.prefix(3))")
        }
    }
}
