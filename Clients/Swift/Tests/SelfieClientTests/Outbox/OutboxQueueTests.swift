import Foundation
import Testing

@testable import SelfieClient

@Suite("The queue of an outbox")
struct OutboxQueueTests {
    private let start = ContinuousClock.now

    private static func upload(_ title: String) -> StoredItem {
        let id = UUID()
        let file = UploadFile(title: title, name: "photo", isListed: true, id: id)
        return StoredItem(id: id, createdAt: Date(timeIntervalSince1970: 0), content: .upload(file, byteCount: 100))
    }

    private static func write(_ id: String, after: [UUID] = [], photos: [String: UUID] = [:]) -> StoredItem {
        let write = RecordWrite(path: ["records", "houses", id], kind: .put, body: ["data": [:]])
        return StoredItem(
            id: UUID(),
            createdAt: Date(timeIntervalSince1970: 0),
            content: .write(write),
            after: after,
            photos: photos
        )
    }

    private static func queue(_ items: StoredItem...) -> OutboxQueue {
        var queue = OutboxQueue()
        for item in items { queue.apply(.added(item)) }
        return queue
    }

    @Test("An upload and a write are sent beside each other, each kind in order")
    func lanes() {
        let items = [Self.upload("1"), Self.upload("2"), Self.write("1"), Self.write("2")]
        var queue = Self.queue(items[0], items[1], items[2], items[3])
        #expect(queue.start(at: start).map { $0.item.id } == [items[0].id, items[2].id])
        #expect(queue.start(at: start).isEmpty)
        queue.hasSent(items[2].id)
        queue.apply(.done(items[2].id, photoID: nil))
        #expect(queue.start(at: start).map { $0.item.id } == [items[3].id])
    }

    @Test("A slow item lets the next ones begin, four at most, and never two of a record")
    func slow() {
        let items = ["a", "a", "b", "c", "d", "e"].map { Self.write($0) }
        var queue = Self.queue(items[0], items[1], items[2], items[3], items[4], items[5])
        var begun = queue.start(at: start).map { $0.item.id }
        #expect(begun == [items[0].id])
        #expect(queue.nextLook(after: start) == start + .seconds(5))
        for second in [5, 10, 15, 20, 25] { begun += queue.start(at: start + .seconds(second)).map { $0.item.id } }
        #expect(begun == [items[0], items[2], items[3], items[4]].map(\.id))
    }

    @Test("Where the system sends uploads in the background, it gets many at once, and records one by one")
    func background() {
        let items = (0..<8).map { $0 < 5 ? Self.upload("\($0)") : Self.write("\($0)") }
        var queue = OutboxQueue(timing: OutboxQueue.Timing(uploadsAtOnce: 4))
        for item in items { queue.apply(.added(item)) }
        #expect(queue.start(at: start).map { $0.item.id } == [0, 1, 2, 3, 5].map { items[$0].id })
        queue.apply(.done(items[1].id, photoID: "p1"))
        #expect(queue.start(at: start).map { $0.item.id } == [items[4].id])
        // After a failure, one at a time.
        queue.hasFailed(items[0].id, .interrupted, at: start)
        #expect(queue.start(at: start + .seconds(1)).isEmpty)
    }

    @Test("An upload that goes on is not slow")
    func progress() {
        let items = [Self.upload("1"), Self.upload("2")]
        var queue = Self.queue(items[0], items[1])
        _ = queue.start(at: start)
        queue.hasProgressed(items[0].id, UploadProgress(sentBytes: 1, totalBytes: 2), at: start + .seconds(4))
        #expect(queue.start(at: start + .seconds(6)).isEmpty)
        #expect(queue.start(at: start + .seconds(9)).map { $0.item.id } == [items[1].id])
    }

    @Test("A try without an answer may have been done; one without a connection was not")
    func uncertainty() throws {
        let item = Self.write("a")
        var queue = Self.queue(item)
        #expect(queue.start(at: start).map { $0.mayBeDone } == [false])
        queue.hasFailed(item.id, .offline, at: start)
        #expect(queue.start(at: start + .seconds(60)).map { $0.mayBeDone } == [false])
        queue.hasFailed(item.id, .interrupted, at: start + .seconds(60))
        #expect(queue.start(at: start + .seconds(120)).map { $0.mayBeDone } == [true])
        queue.hasFailed(item.id, .offline, at: start + .seconds(120))
        #expect(queue.start(at: start + .seconds(180)).map { $0.mayBeDone } == [true])
        var other = Self.queue(item)
        _ = other.start(at: start)
        other.hasStopped(item.id)
        #expect(other.start(at: start).map { $0.mayBeDone } == [true])
        // The app may have ended in the middle of a try.
        var read = Self.queue(item)
        read.hasBeenRead()
        #expect(read.start(at: start).map { $0.mayBeDone } == [true])
    }

    @Test("Without a network nothing is tried for a while, then the first item first")
    func offline() throws {
        let items = [Self.write("a"), Self.write("b")]
        var queue = Self.queue(items[0], items[1])
        var now = start
        for _ in 1...50 {
            #expect(queue.start(at: now).map { $0.item.id } == [items[0].id])
            queue.hasFailed(items[0].id, .offline, at: now)
            #expect(queue.start(at: now).isEmpty)
            let next = try #require(queue.nextLook(after: now))
            #expect(next - now <= .seconds(30))
            now = next
        }
    }

    @Test(
        "An item that fails again and again lets others pass, and is tried later",
        arguments: [
            SelfieError.interrupted, .unavailable(retryAfter: nil), .unexpectedAnswer(status: 500),
        ]
    )
    func poisoned(error: SelfieError) throws {
        let items = [Self.write("a"), Self.write("b")]
        var queue = Self.queue(items[0], items[1])
        var now = start
        for number in 1...3 {
            #expect(queue.start(at: now).map { $0.item.id } == [items[0].id])
            queue.hasFailed(items[0].id, error, at: now)
            if number < 3 { now = try #require(queue.nextLook(after: now)) }
        }
        #expect(queue.start(at: now).map { $0.item.id } == [items[1].id])
        #expect(queue.items.first?.state == .waiting(lastError: error))
        let next = try #require(queue.nextLook(after: now))
        #expect(next <= now + .seconds(5))
        queue.apply(.done(items[1].id, photoID: nil))
        #expect(queue.start(at: next).map { $0.item.id } == [items[0].id])
    }

    @Test("An item that fails again and again is looked at when its time comes, or when the app says so")
    func delayed() throws {
        let item = Self.write("a")
        var queue = Self.queue(item)
        var now = start
        for number in 1...3 {
            #expect(queue.start(at: now).count == 1)
            queue.hasFailed(item.id, .interrupted, at: now)
            if number < 3 { now = try #require(queue.nextLook(after: now)) }
        }
        let next = try #require(queue.nextLook(after: now))
        var hurried = queue
        #expect(queue.start(at: next - .milliseconds(1)).isEmpty)
        #expect(queue.start(at: next).count == 1)
        hurried.hurry()
        #expect(hurried.start(at: now).count == 1)
    }

    @Test("A refused item blocks none, not even of the same record, and waits for the app")
    func refused() {
        let items = [Self.write("a"), Self.write("a")]
        var queue = Self.queue(items[0], items[1])
        _ = queue.start(at: start)
        queue.apply(.refused(items[0].id, .appRefused))
        #expect(queue.items.first?.state == .refused(.appRefused))
        #expect(queue.start(at: start).map { $0.item.id } == [items[1].id])
        #expect(!queue.isAtRest)
        queue.apply(.done(items[1].id, photoID: nil))
        #expect(queue.isAtRest && !queue.isEmpty)
        queue.apply(.retried(items[0].id))
        #expect(queue.start(at: start).map { $0.item.id } == [items[0].id])
    }

    @Test("A refused item that is sent again comes behind the others, also of its record")
    func retried() {
        let items = [Self.write("a"), Self.write("a"), Self.write("b")]
        var queue = Self.queue(items[0], items[1], items[2])
        queue.apply(.refused(items[0].id, .diskFull))
        queue.apply(.retried(items[0].id))
        #expect(queue.items.map(\.id) == [items[1].id, items[2].id, items[0].id])
        #expect(queue.start(at: start).map { $0.item.id } == [items[1].id])
        queue.apply(.retried(items[1].id))
        #expect(queue.items.map(\.id) == [items[1].id, items[2].id, items[0].id])
    }

    @Test("It knows how many items and bytes it has, whatever has happened to them")
    func totals() {
        let items = (0..<100).map { $0.isMultiple(of: 2) ? Self.upload("\($0)") : Self.write("\($0)") }
        var queue = OutboxQueue()
        for item in items + items { queue.apply(.added(item)) }
        #expect(queue.count == 100 && queue.byteCount == 50 * (100 + 65536))
        queue.apply(.refused(items[0].id, .diskFull))
        queue.apply(.retried(items[0].id))
        for item in items[1..<99] { queue.apply(.done(item.id, photoID: nil)) }
        queue.apply(.done(items[1].id, photoID: nil))
        #expect(queue.count == 2 && queue.byteCount == 100 + 65536)
        #expect(queue.items.map(\.id) == [items[99].id, items[0].id])
        queue.apply(.dropped(items[0].id))
        #expect(queue.items.map(\.id) == [items[99].id] && queue.byteCount == 65536)
    }

    @Test("An item waits for what it refers to, and knows the photo's id")
    func dependencies() {
        let photo = Self.upload("1")
        let first = Self.write("thread")
        let message = Self.write("message", after: [first.id], photos: ["picture": photo.id])
        var queue = Self.queue(message, first, photo)
        #expect(Set(queue.start(at: start).map { $0.item.id }) == [first.id, photo.id])
        queue.apply(.done(photo.id, photoID: "p1"))
        #expect(queue.start(at: start).isEmpty)
        queue.apply(.done(first.id, photoID: nil))
        #expect(queue.start(at: start).map { $0.item.id } == [message.id])
        #expect(queue.photoID(of: photo.id) == "p1")
        queue.apply(.done(message.id, photoID: nil))
        // Another record may be added, after its photo has arrived.
        #expect(queue.photoID(of: photo.id) == "p1")
        let later = Self.write("later", photos: ["picture": photo.id])
        queue.apply(.added(later))
        for number in 1...250 { queue.apply(.done(UUID(), photoID: "other\(number)")) }
        #expect(queue.photoID(of: photo.id) == "p1" && (200...250).contains(queue.lineCount))
        queue.apply(.done(later.id, photoID: nil))
        for number in 1...50 { queue.apply(.done(UUID(), photoID: "last\(number)")) }
        #expect(queue.photoID(of: photo.id) == nil && (200...250).contains(queue.lineCount))
    }

    @Test("What refers to a dropped item is refused")
    func dropped() {
        let photo = Self.upload("1")
        let message = Self.write("message", photos: ["picture": photo.id])
        var queue = Self.queue(photo, message)
        queue.apply(.dropped(photo.id))
        #expect(queue.items.map(\.state) == [.refused(.dependencyDropped)])
    }

    @Test("Its events make the same queue again")
    func events() throws {
        let photo = Self.upload("1")
        let items = [Self.write("a"), Self.write("b", photos: ["picture": photo.id])]
        var queue = Self.queue(photo, items[0], items[1])
        queue.apply(.done(photo.id, photoID: "p1"))
        queue.apply(.refused(items[0].id, .diskFull))
        var copy = OutboxQueue()
        for event in queue.events {
            copy.apply(try JSONCoding.decode(OutboxEvent.self, from: JSONCoding.encode(event)))
        }
        #expect(copy.items == queue.items)
        #expect(copy.photoID(of: photo.id) == "p1")
    }

    @Test("It is at rest when all that is left was refused, or waits for what was")
    func rest() {
        let photo = Self.upload("1")
        let (message, reply) = (Self.write("message", photos: ["picture": photo.id]), Self.write("other"))
        var queue = Self.queue(photo, message, reply)
        queue.apply(.refused(photo.id, .diskFull))
        #expect(!queue.isAtRest)
        queue.apply(.done(reply.id, photoID: nil))
        #expect(queue.isAtRest && queue.count == 2)
        queue.apply(.retried(photo.id))
        #expect(!queue.isAtRest)
    }

    @Test("Nothing makes a pause shorter that the service has asked for, and the other lane goes on")
    func servicePause() throws {
        let items = [Self.write("a"), Self.write("b"), Self.upload("1"), Self.upload("2")]
        var queue = Self.queue(items[0], items[1], items[2], items[3])
        #expect(Set(queue.start(at: start).map { $0.item.id }) == [items[0].id, items[2].id])
        queue.hasFailed(items[0].id, .tooManyRequests(retryAfter: .seconds(300)), at: start)
        queue.hasSent(items[2].id)
        queue.apply(.done(items[2].id, photoID: "p1"))
        queue.hurry()
        #expect(queue.start(at: start + .seconds(299)).map { $0.item.id } == [items[3].id])
        queue.apply(.done(items[3].id, photoID: "p2"))
        #expect(queue.nextLook(after: start + .seconds(299)) == start + .seconds(300))
        #expect(queue.start(at: start + .seconds(300)).map { $0.item.id } == [items[0].id])
    }
}
