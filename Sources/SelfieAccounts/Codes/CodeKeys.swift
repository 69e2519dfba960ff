import Cryptography
import Encodings
import FoundationEssentials

/// Makes the digits of codes, under a key of the service.
///
/// The database has neither codes nor hashes of them. So who has a copy of it, and not the service's secret, verifies no code.
package struct CodeKeys: Sendable {
    private let digitsKey: HMACSHA256
    private let accountKey: HMACSHA256

    /// How many digits a code has.
    package static let digitCount = 6
    private static let codeCount: UInt64 = 1_000_000

    /// - Parameter secret: `SECRET_KEY_BASE`.
    package init(secret: String) {
        digitsKey = HMACSHA256(key: Array("codes\0\(secret)".utf8))
        accountKey = HMACSHA256(key: Array("accounts of codes\0\(secret)".utf8))
    }

    /// The digits of a code.
    ///
    /// - Parameters:
    ///   - id: The code's random id.
    ///   - purpose: What it is for.
    /// - Returns: Six digits.
    func digits(of id: UUID, for purpose: CodePurpose) -> String {
        let digest = digitsKey.code(of: Array("\(id.uuidString.lowercased()) \(purpose.rawValue)".utf8))
        // Of 2^64 numbers, each code gets the same share but for one in 10^13.
        let number = digest.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        let digits = String(number % Self.codeCount)
        return String(repeating: "0", count: Self.digitCount - digits.count) + digits
    }

    /// Whether a client sent the digits of a code; spaces between them do not count.
    func isRight(_ text: String, for id: UUID, _ purpose: CodePurpose) -> Bool {
        ConstantTime.isSame(text.utf8.filter { $0 != UInt8(ascii: " ") }, digits(of: id, for: purpose).utf8)
    }

    /// The name of an account in the table: a hash, so that the table tells no addresses.
    func name(of account: AccountName) -> String {
        accountKey.code(of: Array(account.text.utf8)).withUnsafeBytes { $0.hexadecimal }
    }
}

/// Why a code is refused.
package enum CodeError: Error {
    /// It is wrong, used, too old, for another purpose or account, or never was. Nothing says which.
    case invalid
}
