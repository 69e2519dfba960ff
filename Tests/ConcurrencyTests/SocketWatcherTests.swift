import CLinux
import Glibc
import Synchronization
import Testing

@testable import Concurrency

@Suite("What watches sockets", .timeLimit(.minutes(1)))
struct SocketWatcherTests {
    private static func pipe() throws -> (reader: CInt, writer: CInt) {
        var ends: [CInt] = [-1, -1]
        try #require(Glibc.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test("A descriptor that is none is not watched")
    func noDescriptor() {
        let id = SocketWatcher.shared.add(-1) { _ in }
        #expect(!SocketWatcher.shared.watch(-1, id: id, for: .readable))
        SocketWatcher.shared.remove(-1, id: id)
    }

    @Test("A handler is called once for each time that it is asked for, with what is ready, on the watcher's thread")
    func once() async throws {
        let ends = try Self.pipe()
        defer { for end in [ends.reader, ends.writer] { close(end) } }
        let (calls, continuation) = AsyncStream.makeStream(of: (SocketWatcher.Events, Bool).self)
        let id = SocketWatcher.shared.add(ends.reader) { continuation.yield(($0, SocketWatcher.shared.isOnThread)) }
        defer { SocketWatcher.shared.remove(ends.reader, id: id) }
        var iterator = calls.makeAsyncIterator()
        #expect(write(ends.writer, "a", 1) == 1)
        for _ in 0..<3 {
            #expect(SocketWatcher.shared.watch(ends.reader, id: id, for: .readable))
            let call = await iterator.next()
            #expect(call?.0 == .readable && call?.1 == true)
        }
        #expect(!SocketWatcher.shared.isOnThread)
        continuation.finish()
        #expect(await iterator.next() == nil)
    }

    @Test("The end of the other side is reported as ready for both, so that the owner finds the error")
    func hangUp() async throws {
        let ends = try Self.pipe()
        defer { close(ends.reader) }
        let events = await withCheckedContinuation { continuation in
            let id = SocketWatcher.shared.add(ends.reader) { continuation.resume(returning: $0) }
            #expect(SocketWatcher.shared.watch(ends.reader, id: id, for: .readable))
            close(ends.writer)
        }
        #expect(events == [.readable, .writable])
    }

    @Test("One that was closed changes nothing for another that has its number", arguments: ["watch", "remove"])
    func sameNumber(step: String) async throws {
        let (old, new) = (try Self.pipe(), try Self.pipe())
        defer { for end in [old.reader, old.writer, new.writer] { close(end) } }
        let first = SocketWatcher.shared.add(old.reader) { _ in Issue.record("The old one is not ready.") }
        #expect(SocketWatcher.shared.watch(old.reader, id: first, for: .readable))
        // This closes the old one.
        #expect(dup2(new.reader, old.reader) == old.reader)
        close(new.reader)
        let (calls, continuation) = AsyncStream.makeStream(of: SocketWatcher.Events.self)
        let second = SocketWatcher.shared.add(old.reader) { continuation.yield($0) }
        defer { SocketWatcher.shared.remove(old.reader, id: second) }
        #expect(SocketWatcher.shared.watch(old.reader, id: second, for: .readable))
        if step == "watch" {
            #expect(!SocketWatcher.shared.watch(old.reader, id: first, for: .writable))
        } else {
            SocketWatcher.shared.remove(old.reader, id: first)
        }
        #expect(write(new.writer, "a", 1) == 1)
        var iterator = calls.makeAsyncIterator()
        #expect(await iterator.next() == .readable)
    }
}
