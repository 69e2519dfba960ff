import Foundation
import Testing

@testable import SelfieAccounts

@Suite("Digits of codes")
struct CodeKeysTests {
    private static let keys = CodeKeys(secret: "a secret")

    /// By Python: `int.from_bytes(hmac.digest(b"codes\0a secret", b"<id> signin", "sha256")[:8], "little") % 10**6`.
    @Test("They are made of the id, the purpose and the secret, as another program makes them")
    func vector() throws {
        let id = try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))
        #expect(Self.keys.digits(of: id, for: .signIn) == "252481")
        #expect(Self.keys.digits(of: id, for: .reset) == "303096")
        #expect(CodeKeys(secret: "another").digits(of: id, for: .signIn) != "252481")
    }

    @Test("There are six, evenly spread, zeros in front included")
    func spread() {
        var counts: [Character: Int] = [:]
        for _ in 0..<10_000 {
            let digits = Self.keys.digits(of: UUID(), for: .reset)
            #expect(digits.count == 6 && digits.allSatisfy { $0.isASCII && $0.isNumber })
            counts[digits.first ?? " ", default: 0] += 1
        }
        #expect(counts.count == 10 && counts.values.allSatisfy { (800...1_200).contains($0) })
    }

    @Test("Spaces do not count, and nothing else is the same")
    func comparison() {
        let id = UUID()
        let digits = Self.keys.digits(of: id, for: .email)
        for text in [digits, " \(digits.prefix(3)) \(digits.suffix(3)) "] {
            #expect(Self.keys.isRight(text, for: id, .email))
        }
        for text in ["", String(digits.dropLast()), digits + "0", "+\(digits)", String(repeating: digits, count: 2)] {
            #expect(!Self.keys.isRight(text, for: id, .email))
        }
        #expect(!Self.keys.isRight(digits, for: UUID(), .email) || !Self.keys.isRight(digits, for: UUID(), .email))
    }

    @Test("The names of accounts in the table are hashes, different for each")
    func names() {
        let names = [
            Self.keys.name(of: .user(id: 1)), Self.keys.name(of: .user(id: 2)),
            Self.keys.name(of: .unknown(email: "ada@example.com")), Self.keys.name(of: .unknown(email: "user 1")),
        ]
        #expect(Set(names).count == 4 && names.allSatisfy { $0.count == 64 && !$0.contains("ada") })
        #expect(Self.keys.name(of: .unknown(email: " ADA@example.com")) == names[2])
    }
}
