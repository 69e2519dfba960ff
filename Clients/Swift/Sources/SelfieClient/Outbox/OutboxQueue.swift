import Foundation

/// Which items wait, and which are to be sent next: a plain value that events change.
struct OutboxQueue: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Uploads and writes are sent beside each other, each kind in order.
    enum Lane: Sendable, Hashable, CaseIterable { case uploads, writes }

    struct Timing: Sendable {
        /// An item that was silent for so long lets the next one begin.
        var slowAfter: Duration = .seconds(5)
        /// The longest pause between two tries.
        var maxPause: Duration = .seconds(30)
    }

    private struct Entry: Sendable {
        let item: StoredItem
        /// Its place in the order of all items.
        var number: Int
        var sendingSince: Instant?
        /// The service may have done it: a try has ended without an answer.
        var mayBeDone = false
        /// Sent, but that is not stored yet.
        var isSent = false
        var progress: UploadProgress?
        var refusal: SelfieError?
        var lastError: SelfieError?
        var failures = 0
        var notBefore: Instant?

        var lane: Lane {
            switch item.content {
            case .upload: .uploads
            case .write: .writes
            }
        }

        var state: OutboxItem.State {
            if let refusal { return .refused(refusal) }
            return sendingSince == nil ? .waiting(lastError: lastError) : .sending(progress)
        }

    }

    private let timing: Timing
    private var entries: [UUID: Entry] = [:]
    /// Each lane's items in their order, and some that are gone.
    private var orders: [Lane: ArraySlice<UUID>] = [:]
    private var nextNumber = 0
    /// The writes of each record, in their order.
    private var writes: [[String]: [UUID]] = [:]
    /// Those that are being sent.
    private var sending: Set<UUID> = []
    /// Those that wait for a time.
    private var delayed: Set<UUID> = []
    /// The bytes of all items.
    private(set) var byteCount = 0
    /// The photos that uploads have become: the newest, for records that are still to come, and those that items need.
    private var photoIDs: [UUID: String] = [:]
    /// The uploads of these photos, in the order of their ends.
    private var uploaded: [UUID] = []
    /// At how many of them those that nobody needs are forgotten.
    private var forgetAt = Self.maxUploaded + 1
    /// Records as they were after their last write, for those who have read them before.
    private var sent: [[String]: SentRecord] = [:]
    private var pausedUntil: Instant?
    /// When the service wants to hear of a lane again.
    ///
    /// Nothing of ours makes that earlier.
    private var servicePauses: [Lane: Instant] = [:]
    private var failures = 0
    /// After so many failures in a row, an item lets others pass.
    private static let maxFailuresInFront = 3
    private static let maxAtOnce = 4
    private static let maxUploaded = 200
    private static let maxSent = 200

    init(timing: Timing = Timing()) { self.timing = timing }

    // MARK: What is there

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    /// Whether nothing more can be sent without the app's doing: all items were refused, or wait for one that was.
    var isAtRest: Bool {
        guard sending.isEmpty else { return false }
        var stuck: Set<UUID> = []
        var rest = entries.values.filter { entry in
            if entry.refusal != nil { stuck.insert(entry.item.id) }
            return entry.refusal == nil
        }
        while !rest.isEmpty {
            let left = rest.filter { entry in
                guard entry.item.dependencies.contains(where: stuck.contains) else { return true }
                stuck.insert(entry.item.id)
                return false
            }
            if left.count == rest.count { return false }
            rest = left
        }
        return true
    }

    /// The number of lines that make the same queue again, but for refusals.
    var lineCount: Int { count + uploaded.count }

    private var sorted: [Entry] { entries.values.sorted { $0.number < $1.number } }

    var items: [OutboxItem] {
        sorted.map { entry in
            OutboxItem(
                id: entry.item.id,
                content: entry.item.publicContent,
                createdAt: entry.item.createdAt,
                state: state(of: entry)
            )
        }
    }

    private func state(of entry: Entry) -> OutboxItem.State {
        guard case .waiting(nil) = entry.state,
            let refusal = entry.item.dependencies.lazy.compactMap({ entries[$0]?.refusal }).first
        else { return entry.state }
        return .waiting(lastError: refusal)
    }

    /// The data of a record's writes, in their order: what the service has got since a version, and what waits.
    func writes(to path: [String], after version: Int) -> [JSONValue] {
        var writes: [JSONValue] = []
        if let sent = sent[path], sent.version > version { writes.append(sent.data) }
        for id in self.writes[path] ?? [] {
            guard let entry = entries[id], entry.refusal == nil, !entry.isSent,
                case .write(let write) = entry.item.content, let data = write.body?["data"]
            else { continue }
            writes.append(data)
        }
        return writes
    }

    func contains(_ id: UUID) -> Bool { entries[id] != nil }

    func isRefused(_ id: UUID) -> Bool { entries[id]?.refusal != nil }

    /// The id of the photo that an upload has become.
    func photoID(of id: UUID) -> String? { photoIDs[id] }

    /// The events that make the same queue again.
    var events: [OutboxEvent] {
        sorted.flatMap { entry in
            [.added(entry.item)] + (entry.refusal.map { [.refused(entry.item.id, $0)] } ?? [])
        } + uploaded.map { .done($0, photoID: photoIDs[$0]) }
    }

    // MARK: What happens

    mutating func apply(_ event: OutboxEvent) {
        switch event {
        case .added(let item):
            guard entries[item.id] == nil else { return }
            append(Entry(item: item, number: nextNumber))
        case .done(let id, let photoID):
            if let photoID, photoIDs.updateValue(photoID, forKey: id) == nil { uploaded.append(id) }
            remove(id)
            forgetPhotos()
        case .refused(let id, let error):
            change(id) { ($0.sendingSince, $0.refusal) = (nil, error) }
        case .retried(let id):
            guard var entry = entries[id], entry.refusal != nil else { return }
            remove(id)
            (entry.refusal, entry.failures, entry.notBefore) = (nil, 0, nil)
            orders[entry.lane]?.removeAll { $0 == id }
            append(entry)
        case .dropped(let id):
            remove(id)
            for entry in entries.values where entry.item.dependencies.contains(id) {
                change(entry.item.id) { $0.refusal = .dependencyDropped }
            }
        }
    }

    private mutating func change(_ id: UUID, _ body: (inout Entry) -> Void) {
        guard var entry = entries[id] else { return }
        body(&entry)
        put(entry, for: id)
    }

    /// Stores an entry, or removes it.
    private mutating func put(_ entry: Entry?, for id: UUID) {
        byteCount += (entry?.item.byteCount ?? 0) - (entries[id]?.item.byteCount ?? 0)
        entries[id] = entry
        if entry?.sendingSince == nil { sending.remove(id) } else { sending.insert(id) }
        if entry?.notBefore == nil { delayed.remove(id) } else { delayed.insert(id) }
    }

    private mutating func append(_ entry: Entry) {
        var entry = entry
        (entry.number, nextNumber) = (nextNumber, nextNumber + 1)
        put(entry, for: entry.item.id)
        orders[entry.lane, default: []].append(entry.item.id)
        if entry.lane == .writes { writes[entry.item.key, default: []].append(entry.item.id) }
    }

    private mutating func remove(_ id: UUID) {
        guard let entry = entries[id] else { return }
        let lane = entry.lane
        put(nil, for: id)
        writes[entry.item.key]?.removeAll { $0 == id }
        if writes[entry.item.key]?.isEmpty == true { writes[entry.item.key] = nil }
        // Taking each out of the middle at once would move all behind it each time.
        guard var order = orders[lane] else { return }
        order = order.drop { entries[$0] == nil }
        if order.count > 2 * entries.count + 16 { order = order.filter { entries[$0] != nil }[...] }
        orders[lane] = order
    }

    /// Forgets the oldest photos that no item needs.
    private mutating func forgetPhotos() {
        guard uploaded.count >= forgetAt else { return }
        let needed = Set(entries.values.flatMap { $0.item.photos.values })
        var surplus = uploaded.count - Self.maxUploaded
        uploaded.removeAll { id in
            guard surplus > 0, !needed.contains(id) else { return false }
            (surplus, photoIDs[id]) = (surplus - 1, nil)
            return true
        }
        // All items are looked at, so not each time.
        forgetAt = uploaded.count + Self.maxUploaded / 4
    }

    // MARK: Sending

    /// Chooses what is to be sent now, and counts it as being sent.
    ///
    /// - Parameter now: The time.
    /// - Returns: The items, and whether the service may have done each already.
    mutating func start(at now: Instant) -> [(item: StoredItem, mayBeDone: Bool)] {
        guard pausedUntil.map({ $0 <= now }) ?? true else { return [] }
        return Lane.allCases.filter { (servicePauses[$0] ?? now) <= now }.flatMap { lane in
            var started: [(StoredItem, Bool)] = []
            while let item = next(in: lane, now) {
                started.append((item, entries[item.id]?.mayBeDone ?? true))
                change(item.id) { $0.sendingSince = now }
            }
            return started
        }
    }

    /// The queue was read from the disk: the app may have ended while any item was being sent.
    mutating func hasBeenRead() {
        for id in Array(entries.keys) { change(id) { $0.mayBeDone = true } }
    }

    private func next(in lane: Lane, _ now: Instant) -> StoredItem? {
        let since = sending.compactMap { entries[$0] }.filter { $0.lane == lane }.compactMap(\.sendingSince)
        guard since.allSatisfy({ $0 + timing.slowAfter <= now }), since.count < Self.maxAtOnce else { return nil }
        var blocked: Set<[String]> = []
        for id in orders[lane] ?? [] {
            guard let entry = entries[id], entry.refusal == nil else { continue }
            // Those behind it of the same record wait for it.
            guard blocked.insert(entry.item.key).inserted, entry.sendingSince == nil, !entry.isSent,
                entry.notBefore.map({ $0 <= now }) ?? true,
                !entry.item.dependencies.contains(where: { entries[$0] != nil })
            else { continue }
            return entry.item
        }
        return nil
    }

    /// When to look again, if nothing happens before; nil if only an event can help.
    func nextLook(after now: Instant) -> Instant? {
        if let pausedUntil, pausedUntil > now { return pausedUntil }
        let waiting = sending.union(delayed).compactMap { entries[$0] }.filter { $0.refusal == nil }
        let times = waiting.flatMap { entry in
            [entry.notBefore, entry.sendingSince.map { $0 + timing.slowAfter }].compactMap(\.self)
        }
        return (times + servicePauses.values).filter { $0 > now }.min()
    }

    mutating func hasProgressed(_ id: UUID, _ progress: UploadProgress, at now: Instant) {
        guard entries[id]?.sendingSince != nil else { return }
        change(id) { ($0.progress, $0.sendingSince) = (progress, now) }
    }

    /// The item was sent, and that is to be stored now.
    ///
    /// - Parameters:
    ///   - id: The item.
    ///   - record: The record that it was about, as it is now.
    mutating func hasSent(_ id: UUID, _ record: SentRecord? = nil) {
        if let record, let key = entries[id]?.item.key {
            if sent.count >= Self.maxSent { sent = [:] }
            sent[key] = record
        }
        change(id) { ($0.sendingSince, $0.isSent) = (nil, true) }
        (failures, pausedUntil) = (0, nil)
    }

    /// A try has failed in a way that may pass.
    ///
    /// - Parameters:
    ///   - id: The item.
    ///   - error: Why.
    ///   - now: The time.
    mutating func hasFailed(_ id: UUID, _ error: SelfieError, at now: Instant) {
        guard var entry = entries[id] else { return }
        (entry.sendingSince, entry.progress, entry.lastError) = (nil, nil, error)
        if error != .offline { entry.mayBeDone = true }
        failures += 1
        let pause = max(Backoff.pause(after: failures, limit: timing.maxPause), error.retryAfter ?? .zero)
        switch error {
        case .tooManyRequests(let wanted?):
            servicePauses[entry.lane] = max(servicePauses[entry.lane] ?? now, now + wanted)
        case .offline, .tooManyRequests:
            // It is not the item.
            pausedUntil = now + pause
        default:
            entry.failures += 1
            if entry.failures < Self.maxFailuresInFront {
                pausedUntil = now + pause
            } else {
                entry.notBefore = now + max(Backoff.pause(after: entry.failures, limit: .seconds(900)), pause)
                (failures, pausedUntil) = (0, nil)
            }
        }
        put(entry, for: id)
    }

    /// The item is no longer being sent; it waits again.
    mutating func hasStopped(_ id: UUID) {
        change(id) { ($0.sendingSince, $0.progress, $0.mayBeDone) = (nil, nil, true) }
    }

    /// The network is there again, so nothing waits for its turn any longer, but for what the service has put off.
    mutating func hurry() {
        (failures, pausedUntil) = (0, nil)
        for id in delayed { change(id) { $0.notBefore = nil } }
    }
}
