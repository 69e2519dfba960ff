import ConnectionTestSupport
import Glibc
import Postgres
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

@Suite("Many connections", .timeLimit(.minutes(2)))
struct ManyConnectionsTests {
    @Test("A hundred connections are held at once, each is answered twice, and all share ten to the database")
    func parallel() async throws {
        // A busy machine may take longer to open ten connections.
        try await TestService.run(adjust: { $0.configuration.postgres.pool.leaseTimeout = .seconds(60) }) { service in
            // A session may have forty requests under way.
            var requests: [String] = []
            for name in ["ada", "bob", "cy", "di"] {
                let token = try await service.addSession(name: name)
                requests.append("GET /api/get_photos HTTP/1.1\r\nHost: a\r\nAuthorization: Token \(token)\r\n\r\n")
            }
            let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
            let (gate, opening) = AsyncStream.makeStream(of: Void.self)
            let isOpen = Task { for await _ in gate {} }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<100 {
                    tasks.addTask { [requests] in
                        defer { arrived.yield() }
                        try await RawConnection.open(port: service.port) { connection in
                            for round in 0..<2 {
                                try await connection.send(requests[number % 4])
                                let answer = try #require(try await connection.readResponse())
                                #expect(
                                    answer.status == 200 && answer.jsonArray?.isEmpty == true,
                                    "\(answer.status) \(answer.text)"
                                )
                                guard round == 0 else { continue }
                                arrived.yield()
                                await isOpen.value
                            }
                        }
                    }
                }
                var arrivals = arrivals.makeAsyncIterator()
                for _ in 0..<100 { await arrivals.next() }
                #expect(try SocketTable.openCount(at: service.port) >= 100)
                opening.finish()
                try await tasks.waitForAll()
            }
            let connections = try await service.count(
                """
                SELECT count(*) AS count FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'selfie'
                """
            )
            #expect((1...10).contains(connections))
        }
    }
}

@Suite("Memory that is free")
struct MemoryTrimmerTests {
    @Test("It is given back when it is more than 8 MiB", arguments: [8 << 20, 8 << 20 + 1])
    func threshold(freeBytes: Int) async throws {
        let (looks, look) = AsyncStream.makeStream(of: Void.self)
        let (trims, trim) = AsyncStream.makeStream(of: Void.self)
        let trimmer = MemoryTrimmer {
            look.yield()
            return freeBytes
        } trim: {
            trim.yield()
        }
        let running = Task {
            try await PeriodicService(interval: .milliseconds(1)) {
                trimmer.trimIfWorthwhile()
            }.run()
        }
        var seen = looks.makeAsyncIterator()
        for _ in 0..<3 { await seen.next() }
        running.cancel()
        try await running.value
        trim.finish()
        let count = await trims.reduce(into: 0) { count, _ in count += 1 }
        #expect(freeBytes > 8 << 20 ? count >= 2 : count == 0)
    }

    @Test("What is free of the C library's heap goes back to the system")
    func heap() async {
        // In a process of its own, since others of this one take and free memory meanwhile.
        await #expect(processExitsWith: .success) {
            // Small enough to come from the heap, and with something in between that stays in use.
            let pieces = (0..<256).compactMap { _ in malloc(64 * 1024) }
            for piece in pieces { memset(piece, 1, 64 * 1024) }
            for (number, piece) in pieces.enumerated() where number % 64 != 0 { free(piece) }
            // What follows the last piece in use the C library may have given back by itself.
            let middles = pieces.enumerated().filter { $0.offset % 64 != 0 && $0.offset < 192 }
                .map { UInt(bitPattern: $0.element) + 32 * 1024 }
            let trimmer = MemoryTrimmer()
            #expect(trimmer.freeBytes() > 8 << 20)
            #expect(middles.count { isResident($0) } == 189)
            trimmer.trim()
            #expect(middles.count { isResident($0) } == 0)
            for (number, piece) in pieces.enumerated() where number % 64 == 0 { free(piece) }
        }
    }
}

/// Whether the page of an address is in memory; see mincore(2).
private func isResident(_ address: UInt) -> Bool {
    var state: UInt8 = 0
    let page = UnsafeMutableRawPointer(bitPattern: address & ~4095)
    return mincore(page, 4096, &state) == 0 && state & 1 == 1
}
