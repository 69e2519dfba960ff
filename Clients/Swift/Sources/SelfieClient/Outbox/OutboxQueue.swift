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
        /// How many uploads may be under way beside each other, though none of them is slow.
        var uploadsAtOnce = 1
    }

    private struct Entry: Sendable {
        let item: StoredItem
        /// Its place in the order of all items.
        var number: Int
        /// How many items in the queue must be done before.
        var missing = 0
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
    /// The items by their numbers.
    private var ids: [Int: UUID] = [:]
    private var nextNumber = 0
    /// Those that were not refused, and wait for no other.
    private var lanes = Dictionary(uniqueKeysWithValues: Lane.allCases.map { ($0, OutboxLane()) })
    /// Which items wait for an item.
    private var dependents: [UUID: Set<UUID>] = [:]
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
    /// Until when there is no use in trying anything, without a network.
    private var pausedUntil: Instant?
    private var failures = 0
    /// After so many failures, an item may be to blame.
    private static let suspiciousAfter = 3
    private static let maxAtOnce = 4
    /// The pause at a limit when the service does not say how long to wait.
    private static let usualPause: Duration = .seconds(2)
    /// The longest pause of an item that fails while others arrive.
    private static let maxOwnPause: Duration = .seconds(900)
    /// The longest pause that a service out of order may ask for.
    private static let maxRetryAfter: Duration = .seconds(300)
    private static let maxUploaded = 200
    private static let maxSent = 200

    init(timing: Timing = Timing()) { self.timing = timing }

    // MARK: What is there

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    /// Whether nothing more can be sent without the app's doing: all items were refused, or wait for one that was.
    var isAtRest: Bool { lanes.values.allSatisfy(\.numbers.isEmpty) }

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
            hasBeenAnswered(id)
            let waiting = remove(id)
            for other in waiting {
                change(other) { $0.missing -= 1 }
                enter(other)
            }
            forgetPhotos()
        case .refused(let id, let error):
            hasBeenAnswered(id)
            change(id) { ($0.sendingSince, $0.refusal) = (nil, error) }
            leave(id)
        case .retried(let id):
            guard var entry = entries[id], entry.refusal != nil else { return }
            let waiting = remove(id)
            (entry.refusal, entry.failures, entry.notBefore) = (nil, 0, nil)
            append(entry)
            dependents[id] = waiting
        case .dropped(let id):
            for other in remove(id) {
                change(other) { ($0.missing, $0.refusal) = ($0.missing - 1, .dependencyDropped) }
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
        let id = entry.item.id
        (entry.number, nextNumber) = (nextNumber, nextNumber + 1)
        let dependencies = Set(entry.item.dependencies)
        entry.missing = dependencies.count { entries[$0] != nil }
        put(entry, for: id)
        ids[entry.number] = id
        for other in dependencies { dependents[other, default: []].insert(id) }
        // A log that was written anew may have an item before one that it waits for.
        for other in dependents[id] ?? [] {
            leave(other)
            change(other) { $0.missing += 1 }
        }
        if entry.lane == .writes { writes[entry.item.key, default: []].append(id) }
        enter(id)
    }

    /// Lets an item be sent when it is its turn, if nothing is in its way.
    private mutating func enter(_ id: UUID) {
        guard let entry = entries[id], entry.missing == 0, entry.refusal == nil else { return }
        lanes[entry.lane]?.insert(entry.number)
    }

    private mutating func leave(_ id: UUID) {
        guard let entry = entries[id] else { return }
        lanes[entry.lane]?.remove(entry.number)
    }

    /// - Returns: The items that wait for it.
    @discardableResult
    private mutating func remove(_ id: UUID) -> Set<UUID> {
        leave(id)
        guard let entry = entries[id] else { return [] }
        put(nil, for: id)
        ids[entry.number] = nil
        for other in entry.item.dependencies {
            dependents[other]?.remove(id)
            if dependents[other]?.isEmpty == true { dependents[other] = nil }
        }
        if entry.lane == .writes {
            let others = writes[entry.item.key]?.filter { $0 != id } ?? []
            writes[entry.item.key] = others.isEmpty ? nil : others
        }
        return dependents.removeValue(forKey: id) ?? []
    }

    /// The service, or the device, has decided about an item, so the service can be reached.
    private mutating func hasBeenAnswered(_ id: UUID) {
        guard let entry = entries[id], let blamed = lanes[entry.lane]?.hasWorked(entry.number),
            let other = ids[blamed.number]
        else { return }
        change(other) { $0.notBefore = blamed.notBefore }
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
        return Lane.allCases.flatMap { lane in
            var started: [(StoredItem, Bool)] = []
            while let entry = next(in: lane, now) {
                started.append((entry.item, entry.mayBeDone))
                change(entry.item.id) { $0.sendingSince = now }
            }
            return started
        }
    }

    /// The queue was read from the disk: the app may have ended while any item was being sent.
    mutating func hasBeenRead() {
        for id in Array(entries.keys) { change(id) { $0.mayBeDone = true } }
    }

    private func next(in name: Lane, _ now: Instant) -> Entry? {
        guard let lane = lanes[name], lane.pauseEnd(after: now) == nil else { return nil }
        let since = sending.compactMap { entries[$0] }.filter { $0.lane == name }.compactMap(\.sendingSince)
        let silent = since.count { $0 + timing.slowAfter <= now }
        let ahead = name == .uploads ? timing.uploadsAtOnce : 1
        // After a failure, the next item waits for the first one's answer.
        guard since.count - silent < (lane.failures == 0 ? ahead : 1), since.count < max(Self.maxAtOnce, ahead)
        else { return nil }
        return first(of: lane, now)
    }

    /// The first item that can be sent, and is not the lane's suspect.
    private func first(of lane: OutboxLane, besides other: Int? = nil, _ now: Instant) -> Entry? {
        for number in lane.numbers where number != lane.suspect?.number && number != other {
            guard let entry = ids[number].flatMap({ entries[$0] }), entry.sendingSince == nil, !entry.isSent,
                entry.notBefore.map({ $0 <= now }) ?? true, isFirstOfRecord(entry)
            else { continue }
            return entry
        }
        return nil
    }

    /// Whether no other change of the record comes before, but for refused ones.
    private func isFirstOfRecord(_ entry: Entry) -> Bool {
        guard entry.lane == .writes else { return true }
        return writes[entry.item.key]?.first { entries[$0]?.refusal == nil } == entry.item.id
    }

    /// When to look again, if nothing happens before; nil if only an event can help.
    func nextLook(after now: Instant) -> Instant? {
        if let pausedUntil, pausedUntil > now { return pausedUntil }
        let waiting = sending.union(delayed).compactMap { entries[$0] }.filter { $0.refusal == nil }
        let times = waiting.flatMap { entry in
            [entry.notBefore, entry.sendingSince.map { $0 + timing.slowAfter }].compactMap(\.self)
        }
        return (times + lanes.values.compactMap { $0.pauseEnd(after: now) }).filter { $0 > now }.min()
    }

    mutating func hasProgressed(_ id: UUID, _ progress: UploadProgress, at now: Instant) {
        guard entries[id]?.sendingSince != nil else { return }
        // Parts may be told of in another order.
        change(id) { entry in
            let isLess = progress.sentBytes < entry.progress?.sentBytes ?? 0
            (entry.progress, entry.sendingSince) = (isLess ? entry.progress : progress, now)
        }
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
        hasBeenAnswered(id)
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
        switch error {
        case .offline:
            failures += 1
            pausedUntil = now + Backoff.pause(after: failures, limit: timing.maxPause)
        case .tooManyRequests(let wanted):
            lanes[entry.lane]?.pause(until: now + (wanted ?? Self.usualPause))
        default:
            entry.failures += 1
            let wanted = min(error.retryAfter ?? .zero, Self.maxRetryAfter)
            guard var lane = lanes[entry.lane] else { break }
            let hasOthers = first(of: lane, besides: entry.number, now) != nil
            lane.hasFailed(
                entry.number,
                isSuspicious: entry.failures >= Self.suspiciousAfter && hasOthers,
                pause: max(Backoff.pause(after: lane.failures + 1, limit: timing.maxPause), wanted),
                ownPause: max(Backoff.pause(after: entry.failures, limit: Self.maxOwnPause), wanted),
                at: now
            )
            lanes[entry.lane] = lane
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
        for lane in Lane.allCases { lanes[lane]?.hurry() }
        for id in delayed { change(id) { $0.notBefore = nil } }
    }
}
