import Glibc
import TestSupport
import Testing

@testable import SelfieApp

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

    @Test("Free memory of the C library's heap is returned to the system", .onDedicatedThreads)
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
