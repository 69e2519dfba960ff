import AESCrypt
import Budgets
import NIOPosix
import ServerProcesses
import TestSupport
import Testing

@testable import SelfieAccounts

@Suite("Password hashing on threads of its own", .timeLimit(.minutes(2)))
struct PasswordHasherTests {
    private func password(_ text: String = "my password") throws -> Password {
        let cipher = AESCrypt(passphrase: "p4ssw0rd")
        return try #require(Password(try cipher.encrypt(Array(text.utf8)), cipher: cipher))
    }

    /// Runs a body with a hasher that works on so many threads, through a gate, by a clock that stands still.
    private func withHasher(
        cost: Int = 4,
        threads: Int = 2,
        waitingPerThread: Int = 2,
        gate: ThreadGate = .recorder(),
        uptime: ManualTime = ManualTime(),
        _ body: (PasswordHasher) async throws -> Void
    ) async throws {
        var options = PasswordHasherOptions(coreCount: 2)
        options.threadCount = threads
        (options.waitingPerThread, options.waitingPerNetworkAndThread) = (waitingPerThread, waitingPerThread)
        options.waitingPerAccountAndThread = waitingPerThread
        options.clock = uptime
        options.willCompute = { gate.pass($0) }
        let hasher = try PasswordHasher(cost: cost, options: options)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(hasher))
        } catch {
            result = .failure(error)
        }
        gate.open()
        try await hasher.shutDown()
        try result.get()
    }

    /// Hashes, and says whether there was room and time for it.
    private func isHashed(_ password: Password, by hasher: PasswordHasher) async throws -> Bool {
        do {
            return try await hasher.hash(password, for: .test).hasPrefix("$2b$04$")
        } catch is TooBusy {
            return false
        }
    }

    @Test("One thread fewer than there are cores, a limited queue for each, and waits of eight seconds at most")
    func limits() {
        #expect([1, 2, 3, 16].map { PasswordHasherOptions(coreCount: $0).threadCount } == [1, 1, 2, 15])
        let options = PasswordHasherOptions(coreCount: 4)
        #expect(options.limits.permits == 3 && options.limits.waiting == 3 * 384)
        #expect(options.limits.waitingPerGroup == 3 * 28 && options.limits.waitingPerMember == 3 * 24)
        #expect(options.maxWait == .seconds(8))
        let (before, now, after) = (ContinuousClock.now, options.clock.now, ContinuousClock.now)
        #expect((before...after).contains(now))
    }

    @Test("Only the right password with its own hash is correct")
    func verification() async throws {
        try await withHasher { hasher in
            let hash = try await hasher.hash(try password(), for: .test)
            #expect(try await hasher.verify(try password(), against: hash, for: .test))
            #expect(try await !hasher.verify(try password("my passwore"), against: hash, for: .test))
            #expect(try await !hasher.verify(nil, against: hash, for: .test))
            #expect(try await !hasher.verify(try password(), against: nil, for: .test))
            #expect(try await !hasher.verify(nil, against: nil, for: .test))
            #expect(try await !hasher.verify(try password(), against: "no hash", for: .test))
        }
    }

    @Test("The stand-in for an undecryptable password opens nothing")
    func standIn() async throws {
        try await withHasher { hasher in
            let hash = try BCrypt.hash(Array("undecryptable".utf8), cost: 4)
            #expect(try await !hasher.verify(nil, against: hash, for: .test))
        }
    }

    @Test(
        "A hash is weak when its cost is lower than that of new ones, or when it is none",
        arguments: [("$2a$04$", true), ("$2a$05$", false), ("$2a$06$", false), ("$1$06$", true)]
    )
    func weakness(prefix: String, isWeak: Bool) async throws {
        try await withHasher(cost: 5) { hasher in
            #expect(hasher.isWeak(prefix + String(repeating: "C", count: 53)) == isWeak)
        }
    }

    @Test(
        "A refusal is as much work as a hash of today's cost, whatever it is refused for",
        arguments: [(4, [4, 4, 5, 6]), (5, [5, 5, 6]), (6, [6, 6]), (7, [7]), (nil, [7]), (0, [7])] as [(Int?, [Int])]
    )
    func work(cost: Int?, expected: [Int]) async throws {
        let recorder = ThreadGate.recorder()
        try await withHasher(cost: 7, gate: recorder) { hasher in
            let hash = try cost.map { $0 == 0 ? "no hash" : try BCrypt.hash(Array("my password".utf8), cost: $0) }
            for wrong in [try password("your password"), nil] {
                recorder.forget()
                #expect(try await !hasher.verify(wrong, against: hash, for: .test))
                #expect(recorder.passed == expected)
                #expect(recorder.passed.map { 1 << $0 }.reduce(0, +) == 1 << 7)
            }
        }
    }

    @Test("A full queue is reported beforehand while it is full, and blocks no shared thread")
    func room() async throws {
        let gate = ThreadGate()
        try await withHasher(gate: gate) { hasher in
            let password = try password()
            try hasher.requireRoom(for: .test)
            try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for _ in 0..<20 { tasks.addTask { try await isHashed(password, by: hasher) } }
                // Of six permits, two are for threads. Without a permit, a caller is refused at once.
                for _ in 0..<14 { #expect(try await tasks.next() == false) }
                try await poll("both threads are at work") { gate.heldCount == 2 }
                #expect(throws: TooBusy.holder(limit: "HASHES_WAITING_PER_CALLER")) {
                    try hasher.requireRoom(for: .test)
                }
                // The pool that all others share has threads left.
                #expect(try await NIOThreadPool.singleton.runIfActive { 42 } == 42)
                #expect(gate.passed == [4, 4])
                gate.open()
                for _ in 0..<6 { #expect(try await tasks.next() == true) }
            }
            #expect(gate.passed.count == 6)
            try hasher.requireRoom(for: .test)
            let hash = try await hasher.hash(password, for: .test)
            #expect(try await hasher.verify(password, against: hash, for: .test))
        }
    }

    @Test("A hash that has waited for eight seconds is not started", arguments: [(7_999, true), (8_000, false)])
    func wait(milliseconds: Int, isHashed: Bool) async throws {
        let (gate, uptime) = (ThreadGate(), ManualTime())
        try await withHasher(threads: 1, waitingPerThread: 1, gate: gate, uptime: uptime) { hasher in
            let password = try password()
            async let first = self.isHashed(password, by: hasher)
            try await poll("the thread is at work") { gate.heldCount == 1 }
            async let second = self.isHashed(password, by: hasher)
            try await poll("the other waits") { (try? hasher.requireRoom(for: .test)) == nil }
            uptime.advance(by: .milliseconds(milliseconds))
            gate.open()
            // What was begun is done, however long it takes.
            #expect(try await first)
            #expect(try await second == isHashed)
            #expect(gate.passed.count == (isHashed ? 2 : 1))
            try hasher.requireRoom(for: .test)
        }
    }

    @Test("A caller that is cancelled while waiting costs no hash")
    func cancellation() async throws {
        let gate = ThreadGate()
        try await withHasher(threads: 1, waitingPerThread: 1, gate: gate) { hasher in
            let password = try password()
            async let first = isHashed(password, by: hasher)
            try await poll("the thread is at work") { gate.heldCount == 1 }
            let second = Task { try await isHashed(password, by: hasher) }
            try await poll("the other waits") { (try? hasher.requireRoom(for: .test)) == nil }
            second.cancel()
            gate.open()
            await #expect(throws: CancellationError.self) { try await second.value }
            #expect(try await first)
            #expect(gate.passed.count == 1)
            try hasher.requireRoom(for: .test)
        }
    }
}

extension FairSemaphore.Caller {
    fileprivate static let test = FairSemaphore.Caller(group: "network", member: "account")
}
