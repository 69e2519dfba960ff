import AESCrypt
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import PhotoService

@Suite("Password hashing on threads of its own", .timeLimit(.minutes(2)))
struct PasswordHasherTests {
    private func password(_ text: String = "my password") throws -> Password {
        let cipher = AESCrypt(passphrase: "p4ssw0rd")
        return try #require(Password(try cipher.encrypt(Array(text.utf8)), cipher: cipher))
    }

    @Test("Only the right password with its own hash is correct")
    func verification() async throws {
        let hasher = try PasswordHasher(cost: 4, coreCount: 2)
        let hash = try await hasher.hash(try password())
        #expect(try await hasher.verify(try password(), against: hash))
        #expect(try await !hasher.verify(try password("my passwore"), against: hash))
        #expect(try await !hasher.verify(nil, against: hash))
        #expect(try await !hasher.verify(try password(), against: nil))
        #expect(try await !hasher.verify(nil, against: nil))
        #expect(try await !hasher.verify(try password(), against: "no hash"))
        try await hasher.shutDown()
    }

    @Test("The stand-in for an undecryptable password opens nothing")
    func standIn() async throws {
        let hasher = try PasswordHasher(cost: 4, coreCount: 2)
        let hash = try BCrypt.hash(Array("undecryptable".utf8), cost: 4)
        #expect(try await !hasher.verify(nil, against: hash))
        try await hasher.shutDown()
    }

    @Test(
        "A hash is weak when its cost is lower than that of new ones, or when it is none",
        arguments: [("$2a$04$", true), ("$2a$05$", false), ("$2a$06$", false), ("$1$06$", true)]
    )
    func weakness(prefix: String, isWeak: Bool) async throws {
        let hasher = try PasswordHasher(cost: 5, coreCount: 1)
        #expect(hasher.isWeak(prefix + String(repeating: "C", count: 53)) == isWeak)
        try await hasher.shutDown()
    }

    @Test("That there is no room is told beforehand, as long as it is so")
    func room() async throws {
        let hasher = try PasswordHasher(cost: 8, coreCount: 1)
        let password = try password()
        try hasher.requireRoom()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<60 { tasks.addTask { _ = try? await hasher.hash(password) } }
            try await poll("it is full") { (try? hasher.requireRoom()) == nil }
            try await tasks.waitForAll()
        }
        try hasher.requireRoom()
        try await hasher.shutDown()
    }

    @Test("Beyond its limit a storm is refused at once, holds up nobody else, and leaves no trace")
    func storm() async throws {
        let hasher = try PasswordHasher(cost: 9, coreCount: 1)
        let password = try password()
        let isOver = Flag()
        let (hashed, refused) = try await withThrowingTaskGroup(of: Bool?.self) { tasks in
            for _ in 0..<100 {
                tasks.addTask {
                    do {
                        return try await !hasher.hash(password).isEmpty
                    } catch PasswordHasherError.overloaded {
                        #expect(!isOver.isSet)
                        return false
                    }
                }
            }
            tasks.addTask { @concurrent in
                // Both shared pools have threads left for others.
                let answer = try await NIOThreadPool.singleton.runIfActive { 42 }
                #expect(answer == 42)
                #expect(!isOver.isSet)
                return nil
            }
            var outcomes: [Bool] = []
            while let outcome = try await tasks.next() {
                if let outcome { outcomes.append(outcome) }
                if outcomes.count(where: \.self) == 40 { isOver.set() }
            }
            return (outcomes.count(where: \.self), outcomes.count { !$0 })
        }
        #expect(hashed >= 48)
        #expect(refused >= 1)
        #expect(hashed + refused == 100)
        let hash = try await hasher.hash(password)
        #expect(try await hasher.verify(password, against: hash))
        try await hasher.shutDown()
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}
