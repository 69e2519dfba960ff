import Foundation

/// A user's outbox on disk: a log of what has happened to items, and a file for the body of each upload.
///
/// An item is added by its file, then by its line in the log. It is removed by its line, then by its file. So a crash in
/// between leaves a file without an item, which goes at the next start.
final class OutboxStore {
    let userID: String
    private let folder: URL
    private let disk: Disk
    private let lock: FolderLock
    private let log: FrameLog
    private var eventCount: Int
    /// Whether lines of the log were damaged, or are another version's.
    ///
    /// Then they stay, and no file is removed for which there is no item.
    let isDamaged: Bool

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
        var (count, isReadable) = (0, true)
        log = try FrameLog(file: folder.appendingPathComponent("log"), disk: disk) { frame in
            if let event = try? JSONCoding.decode(OutboxEvent.self, from: frame) {
                onEvent(event)
            } else {
                isReadable = false
            }
            count += 1
        }
        (eventCount, isDamaged) = (count, log.damagedBytes > 0 || !isReadable)
    }

    /// The file of an upload's body.
    func file(of id: UUID) -> URL {
        folder.appendingPathComponent("uploads").appendingPathComponent(id.uuidString)
    }

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

    /// Removes files without an item, as a crash leaves them.
    func removeFiles(except isKept: (UUID) -> Bool) {
        guard !isDamaged else { return }
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: file(of: UUID()).deletingLastPathComponent().path))
            ?? []
        for name in names where !(UUID(uuidString: name).map(isKept) ?? false) {
            try? disk.remove(folder.appendingPathComponent("uploads").appendingPathComponent(name))
        }
    }

    /// Writes the log anew if most of it is past.
    func compact(_ queue: OutboxQueue) {
        guard !isDamaged, eventCount > 64 + 3 * queue.lineCount else { return }
        let events = queue.events
        guard let frames = try? events.map(JSONCoding.encode), (try? log.rewrite(frames)) != nil else { return }
        eventCount = events.count
    }
}
