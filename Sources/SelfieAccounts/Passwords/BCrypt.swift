import CCrypt
import Cryptography
import Glibc

/// Only this calls libcrypt, and it checks each call's result.
///
/// Source: `crypt(3)` and `crypt_gensalt(3)` of libxcrypt; hashes are in the format `$2b$<cost>$<salt><hash>`.
enum BCrypt {
    /// bcrypt ignores further bytes.
    static let maxPasswordBytes = 72

    /// Called with the cost of a hash right before it is computed.
    typealias Observer = @Sendable (_ cost: Int) -> Void

    /// Whether a password has 1 to 72 bytes and no NUL.
    static func canHash(_ password: [UInt8]) -> Bool {
        (1...maxPasswordBytes).contains(password.count) && !password.contains(0)
    }

    /// Hashes a password.
    ///
    /// - Parameters:
    ///   - password: 1 to 72 bytes without NUL.
    ///   - cost: The logarithm of the number of rounds, 4 to 31.
    ///   - willCompute: Called with the hash's cost before it is computed.
    /// - Returns: 60 ASCII characters.
    /// - Throws: `BCryptError`.
    static func hash(
        _ password: [UInt8],
        cost: Int,
        willCompute: Observer = { _ in }
    ) throws(BCryptError) -> String {
        try compute(password, setting: try makeSetting(cost: cost), cost: cost, willCompute: willCompute)
    }

    /// Whether a hash was made of this password.
    ///
    /// False also for a hash of another format.
    ///
    /// - Parameters:
    ///   - password: The password to try.
    ///   - hash: A hash with the prefix `$2a$`, `$2b$` or `$2y$`.
    ///   - willCompute: Called with the cost before the hash is computed.
    /// - Returns: Whether they match.
    static func verify(_ password: [UInt8], against hash: String, willCompute: Observer = { _ in }) -> Bool {
        guard let cost = cost(of: hash),
            let computed = try? compute(password, setting: hash, cost: cost, willCompute: willCompute)
        else { return false }
        return ConstantTime.isSame(computed.utf8, hash.utf8)
    }

    /// Computes a hash only to take its time.
    static func spendTime(of password: [UInt8], cost: Int, willCompute: Observer) {
        _ = try? hash(password, cost: cost, willCompute: willCompute)
    }

    /// The cost in a bcrypt hash; nil for any other text.
    static func cost(of hash: String) -> Int? {
        guard let match = hash.wholeMatch(of: /\$2[aby]\$([0-9]{2})\$[.\/A-Za-z0-9]{53}/) else { return nil }
        return Int(match.1)
    }

    private static func makeSetting(cost: Int) throws(BCryptError) -> String {
        var generator = SecureGenerator()
        let random = (0..<16).map { _ in CChar.random(in: .min ... .max, using: &generator) }
        var output = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
        let setting = crypt_gensalt_rn("$2b$", UInt(cost), random, Int32(random.count), &output, Int32(output.count))
        guard let setting, setting.pointee != failureMark else { throw .saltFailed }
        return String(cString: setting)
    }

    private static func compute(
        _ password: [UInt8],
        setting: String,
        cost: Int,
        willCompute: Observer
    ) throws(BCryptError) -> String {
        guard canHash(password) else { throw .unhashable }
        // 32 KiB is much for a thread's stack. It held the password, so it is wiped.
        let data = UnsafeMutablePointer<crypt_data>.allocate(capacity: 1)
        defer {
            explicit_bzero(data, MemoryLayout<crypt_data>.size)
            data.deallocate()
        }
        memset(data, 0, MemoryLayout<crypt_data>.size)
        let phrase = password.map { CChar(bitPattern: $0) } + [0]
        willCompute(cost)
        guard let result = crypt_r(phrase, setting, data), result.pointee != failureMark else { throw .hashFailed }
        return String(cString: result)
    }

    /// libcrypt reports a failure by a text that begins with an asterisk.
    private static let failureMark = CChar(bitPattern: UInt8(ascii: "*"))
}

enum BCryptError: Error {
    /// The password is empty, over 72 bytes, or contains NUL.
    case unhashable
    case saltFailed
    case hashFailed
}
