import Foundation
import Testing

@testable import SelfieClient

@Suite("The queue of an outbox in an outage")
struct OutboxOutageTests {
    private static func write(_ number: Int) -> StoredItem {
        let write = RecordWrite(path: ["records", "houses", "\(number)"], kind: .put, body: ["data": [:]])
        return StoredItem(id: UUID(), createdAt: Date(timeIntervalSince1970: 0), content: .write(write))
    }

    /// Sends all items of a queue, with a time of its own.
    ///
    /// - Parameters:
    ///   - count: How many items.
    ///   - limit: After how long to give up.
    ///   - error: What the try of an item at a time ends with; nil when it arrives.
    /// - Returns: The items in the order in which they arrived, with the time, and the number of tries.
    private static func run(
        _ count: Int,
        limit: Duration = .seconds(3600),
        _ error: (_ number: Int, _ time: Duration) -> SelfieError?
    ) -> (arrived: [(number: Int, time: Duration)], tries: Int) {
        let start = ContinuousClock.now
        var (now, tries) = (start, 0)
        let items = (0..<count).map { write($0) }
        var queue = OutboxQueue()
        for item in items { queue.apply(.added(item)) }
        var arrived: [(Int, Duration)] = []
        while !queue.isEmpty, now - start < limit {
            let begun = queue.start(at: now)
            for (item, _) in begun {
                tries += 1
                guard let number = items.firstIndex(of: item) else { continue }
                if let error = error(number, now - start) {
                    queue.hasFailed(item.id, error, at: now)
                } else {
                    queue.hasSent(item.id)
                    queue.apply(.done(item.id, photoID: nil))
                    arrived.append((number, now - start))
                }
            }
            guard begun.isEmpty else { continue }
            guard let next = queue.nextLook(after: now) else { break }
            now = next
        }
        return (arrived, tries)
    }

    @Test(
        "After an outage of any length and kind, all items arrive in order",
        arguments: [1, 25, 600],
        [
            SelfieError.offline, .interrupted, .unavailable(retryAfter: nil), .unavailable(retryAfter: .seconds(5)),
            .unexpectedAnswer(status: 502), .tooManyRequests(retryAfter: .seconds(7)), .notSecure,
        ]
    )
    func order(seconds: Int, error: SelfieError) {
        for _ in 0..<5 {
            let (arrived, tries) = Self.run(20) { $1 < .seconds(seconds) ? error : nil }
            #expect(arrived.map(\.number) == Array(0..<20))
            #expect(arrived.allSatisfy { $0.time <= .seconds(seconds + 31) })
            // Two for each pause at most, which grow to at least 15 seconds.
            #expect(tries <= 20 + 16 + 2 * seconds / 15)
        }
    }

    @Test(
        "An item that fails by itself lets the others arrive in order, and is tried again at longer and longer intervals",
        arguments: [SelfieError.interrupted, .unavailable(retryAfter: nil), .unexpectedAnswer(status: 500)],
        [0, 3, 9]
    )
    func poisoned(error: SelfieError, number: Int) {
        var early = 0
        let (arrived, tries) = Self.run(10) { item, time in
            guard item == number, time < .seconds(1800) else { return nil }
            if time < .seconds(4) { early += 1 }
            return error
        }
        // Nothing is sent to it again and again between the others.
        #expect(early <= 8)
        #expect(arrived.map(\.number) == (0..<10).filter { $0 != number } + [number])
        #expect(arrived.dropLast().allSatisfy { $0.time <= .seconds(5) })
        #expect(arrived.last.map { $0.time <= .seconds(1800 + 900) } == true)
        // Alone in the queue, it is tried every half minute, since nothing tells whether it is to blame.
        #expect(tries < 150)
    }

    @Test("An item that fails by itself beside an outage is found out afterwards")
    func both() {
        let (arrived, _) = Self.run(10) { item, time in
            time < .seconds(60) || (item == 2 && time < .seconds(300)) ? .interrupted : nil
        }
        #expect(arrived.map(\.number) == [0, 1, 3, 4, 5, 6, 7, 8, 9, 2])
        #expect(arrived.dropLast().allSatisfy { $0.time <= .seconds(100) })
    }

    @Test("A service that is out of order may put items off by five minutes at most, at a limit by any time")
    func longPauses() {
        let busy = Self.run(2) { $1 < .seconds(10) ? .unavailable(retryAfter: .seconds(86_400)) : nil }
        #expect(busy.arrived.map(\.number) == [0, 1] && busy.arrived[0].time == .seconds(300))
        let limited = Self.run(2) { $1 < .seconds(10) ? .tooManyRequests(retryAfter: .seconds(1200)) : nil }
        #expect(
            limited.arrived.map(\.number) == [0, 1] && limited.arrived[0].time == .seconds(1200) && limited.tries == 3
        )
    }

    @Test("What refers to an item waits for it, also if it was sent again, and if the log has it behind")
    func dependencies() {
        let (first, second) = (Self.write(0), Self.write(1))
        let write = RecordWrite(path: ["records", "houses", "2"], kind: .put, body: ["data": [:]])
        let third = StoredItem(
            id: UUID(),
            createdAt: Date(timeIntervalSince1970: 0),
            content: .write(write),
            after: [first.id, second.id]
        )
        var queue = OutboxQueue()
        for item in [first, second, third] { queue.apply(.added(item)) }
        queue.apply(.refused(first.id, .diskFull))
        queue.apply(.retried(first.id))
        var copy = OutboxQueue()
        for event in queue.events { copy.apply(event) }
        #expect(copy.items.map(\.id) == [second, third, first].map(\.id))
        for var queue in [queue, copy] {
            var sent: [UUID] = []
            while let item = queue.start(at: .now).first?.item {
                queue.apply(.done(item.id, photoID: nil))
                sent.append(item.id)
            }
            #expect(sent == [second, first, third].map(\.id) && queue.isAtRest)
        }
    }

    @Test("It is at rest with a chain behind a refused item, and goes on when that is sent again")
    func chain() {
        var (queue, last) = (OutboxQueue(), UUID?.none)
        var items: [StoredItem] = []
        for number in 0..<5_000 {
            var item = Self.write(number)
            item.after = last.map { [$0] } ?? []
            last = item.id
            items.append(item)
            queue.apply(.added(item))
        }
        queue.apply(.refused(items[0].id, .diskFull))
        #expect(queue.isAtRest && queue.start(at: .now).isEmpty)
        queue.apply(.retried(items[0].id))
        #expect(!queue.isAtRest)
        for item in items {
            #expect(queue.start(at: .now).map { $0.item.id } == [item.id])
            queue.apply(.done(item.id, photoID: nil))
        }
        #expect(queue.isEmpty)
    }

    @Test("Progress never goes back")
    func progress() {
        let id = UUID()
        let file = UploadFile(title: "x", name: "photo", isListed: true, id: id)
        let item = StoredItem(id: id, createdAt: Date(), content: .upload(file, byteCount: 100))
        var queue = OutboxQueue()
        queue.apply(.added(item))
        _ = queue.start(at: .now)
        for bytes: Int64 in [10, 100, 50] {
            queue.hasProgressed(id, UploadProgress(sentBytes: bytes, totalBytes: 100), at: .now)
        }
        #expect(queue.items.map(\.state) == [.sending(UploadProgress(sentBytes: 100, totalBytes: 100))])
    }
}
