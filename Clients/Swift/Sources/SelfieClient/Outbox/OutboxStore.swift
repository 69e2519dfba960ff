import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A user's outbox on disk: a log of what has happened to items, and a file for the body of each upload.
///
/// An item is added by its file, then by its line in the log. It is removed by its line, then by its file. So a crash in
/// between leaves a file without an item, which goes at the next start.
///
/// A damaged log is put aside at the start, into the folder `damaged`, and a new log begins with all that could be read.
/// The items of the lost lines are gone from the outbox. But files without an item may be their photos, so they go into
/// that folder, too. The folder of the damage before is `damaged-before`. There is none before that, and each goes after
/// 30 days. So what was put aside takes at most twice the room of an outbox.
///
/// A whole line that can't be decoded is another version's. It stays behind the others, and no file goes meanwhile.
final class OutboxStore {
    let userID: String
    private let folder: URL
    private let disk: Disk
    private let lock: FolderLock
    private let log: FrameLog
    private var eventCount: Int
    /// Lines of another version.
    private let unknownLines: [Data]
    /// Whether lines of the log are damaged, and were not put aside yet.
    private(set) var isDamaged: Bool
    private static let damageKeptFor: TimeInterval = 30 * 24 * 3600

    /// - Parameters:
    ///   - folder: The outbox's folder.
    ///   - userID: Whose it is.
    ///   - disk: What writes it.
    ///   - onEvent: Gets what has happened so far.
    /// - Throws: ``SelfieError/storage(_:)`` if another process has it open, or an error of `Disk`'s.
    init(folder: URL, userID: String, disk: Disk, onEvent: (OutboxEvent) -> Void) throws {
        (self.folder, self.userID, self.disk) = (folder, userID, disk)
        try disk.makeFolder(folder.appendingPathComponent("uploads"))
        lock = try FolderLock(folder)
        var (count, unknown): (Int, [Data]) = (0, [])
        log = try FrameLog(file: folder.appendingPathComponent("log"), disk: disk) { frame in
            if let event = try? JSONCoding.decode(OutboxEvent.self, from: frame) {
                onEvent(event)
            } else {
                unknown.append(frame)
            }
            count += 1
        }
        (eventCount, unknownLines, isDamaged) = (count, unknown, log.damagedBytes > 0)
    }

    private var uploads: URL { folder.appendingPathComponent("uploads") }
    private var damaged: URL { folder.appendingPathComponent("damaged") }
    private var damagedBefore: URL { folder.appendingPathComponent("damaged-before") }

    /// The file of an upload's body.
    func file(of id: UUID) -> URL { uploads.appendingPathComponent(id.uuidString) }

    /// Lets another store have the folder, whoever still holds this one.
    func close() { lock.release() }

    func removeFile(of id: UUID) { try? disk.remove(file(of: id)) }

    /// Stores what has happened.
    ///
    /// - Throws: An error of `Disk`'s; it has not happened then.
    func append(_ event: OutboxEvent) throws {
        try log.append(JSONCoding.encode(event))
        eventCount += 1
    }

    // MARK: Putting in order

    /// Puts a damaged log aside with the files that have no item, and begins a new one.
    ///
    /// If that fails, all stays as it is, and the next start tries it again.
    ///
    /// - Parameter queue: What was read.
    func putDamageAside(_ queue: OutboxQueue) {
        guard isDamaged else { return }
        do {
            let (log, aside) = (folder.appendingPathComponent("log"), damaged.appendingPathComponent("log"))
            // The app may have ended in the middle of this.
            if !FrameLog.isSame(log, aside) {
                if FileManager.default.fileExists(atPath: aside.path) {
                    try disk.remove(damagedBefore)
                    try disk.move(damaged, to: damagedBefore)
                }
                try disk.makeFolder(damaged)
                // A second name and not a move: the outbox has its log at any time.
                try disk.beforeStep("link")
                guard link(log.path, aside.path) == 0 else { throw Disk.error("link") }
            }
            for name in filesWithoutItem(queue) where unknownLines.isEmpty {
                try disk.move(uploads.appendingPathComponent(name), to: damaged.appendingPathComponent(name))
            }
            try rewrite(queue)
            isDamaged = false
        } catch {
            // The caller has said that the log is damaged.
        }
    }

    /// Removes files without an item, as a crash leaves them, and what was put aside long ago.
    func removeFiles(without queue: OutboxQueue) {
        guard !isDamaged else { return }
        for name in filesWithoutItem(queue) where unknownLines.isEmpty {
            try? disk.remove(uploads.appendingPathComponent(name))
        }
        for folder in [damaged, damagedBefore] {
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path)
            guard let date = attributes?[.modificationDate] as? Date, -date.timeIntervalSinceNow > Self.damageKeptFor
            else { continue }
            try? disk.remove(folder)
        }
    }

    private func filesWithoutItem(_ queue: OutboxQueue) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: uploads.path)) ?? []
        return names.filter { name in !(UUID(uuidString: name).map(queue.contains) ?? false) }
    }

    /// Writes the log anew if most of it is past.
    func compact(_ queue: OutboxQueue) {
        guard !isDamaged, eventCount > 64 + 3 * queue.lineCount + unknownLines.count else { return }
        try? rewrite(queue)
    }

    private func rewrite(_ queue: OutboxQueue) throws {
        let lines = try queue.events.map(JSONCoding.encode) + unknownLines
        try log.rewrite(lines)
        eventCount = lines.count
    }
}
