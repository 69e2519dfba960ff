import Testing

@testable import SelfieAccounts

@Suite("bcrypt")
struct BCryptTests {
    /// Source: the test vectors of Openwall's crypt_blowfish, `wrapper.c`.
    private static let vectors = [
        ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
        ("U*U*", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"),
        ("U*U*U", "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"),
    ]

    @Test("Known vectors match, and nothing near them", arguments: vectors)
    func vector(password: String, hash: String) {
        #expect(BCrypt.verify(Array(password.utf8), against: hash))
        #expect(!BCrypt.verify(Array(password.lowercased().utf8), against: hash))
        #expect(!BCrypt.verify(Array("\(password) ".utf8), against: hash))
        #expect(!BCrypt.verify(Array(password.utf8), against: String(hash.dropLast()) + "."))
        #expect(BCrypt.cost(of: hash) == 5)
    }

    @Test("The prefixes of other libraries are taken", arguments: ["$2a$", "$2b$", "$2y$"])
    func prefixes(prefix: String) {
        let hash = prefix + Self.vectors[0].1.dropFirst(4)
        #expect(BCrypt.verify(Array("U*U".utf8), against: hash))
    }

    @Test("A new hash is salted, has its cost, and matches its password only")
    func newHash() throws {
        let password = Array("p\u{1F}ä\u{7F} 🔑".utf8)
        let (first, second) = (try BCrypt.hash(password, cost: 4), try BCrypt.hash(password, cost: 4))
        #expect(first != second)
        #expect(first.hasPrefix("$2b$04$"))
        #expect(first.utf8.count == 60)
        #expect(BCrypt.verify(password, against: first))
        #expect(BCrypt.verify(password, against: second))
        #expect(!BCrypt.verify(password.dropLast(), against: first))
    }

    @Test("All of 72 bytes count")
    func longest() throws {
        let longest = [UInt8](repeating: 0xFF, count: BCrypt.maxPasswordBytes)
        let hash = try BCrypt.hash(longest, cost: 4)
        #expect(BCrypt.verify(longest, against: hash))
        #expect(!BCrypt.verify(longest.dropLast(), against: hash))
        #expect(!BCrypt.verify(longest.dropLast() + [0xFE], against: hash))
        #expect(!BCrypt.verify(longest + [0xFF], against: hash))
    }

    @Test(
        "What bcrypt would cut short is refused",
        arguments: [[], [0], Array("pass\0word".utf8), [UInt8](repeating: 1, count: 73)] as [[UInt8]]
    )
    func unhashable(password: [UInt8]) {
        #expect(throws: BCryptError.unhashable) { try BCrypt.hash(password, cost: 4) }
    }

    @Test("A cost that libcrypt does not take is an error", arguments: [1, 3, 32, 99])
    func badCost(cost: Int) {
        #expect(throws: BCryptError.saltFailed) { try BCrypt.hash([1], cost: cost) }
    }

    @Test(
        "A text that is no bcrypt hash matches nothing",
        arguments: [
            "", "*", "*0", "*1", "$2a$05$", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.",
            "$2a$99$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "$1$abc$def", "$6$salt$hash", "U*U",
            "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW\n",
        ]
    )
    func noHash(hash: String) {
        #expect(!BCrypt.verify(Array("U*U".utf8), against: hash))
    }
}
