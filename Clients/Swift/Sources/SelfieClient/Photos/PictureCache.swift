import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Pictures on disk, for one user. Those that were not looked at for the longest time go first.
actor PictureCache {
    private let folder: URL
    private let maxBytes: Int
    private let disk = Disk()
    /// The number of all bytes; nil before they were counted.
    private var byteCount: Int?
    /// Photos that are gone: a picture of theirs may still be on its way.
    private var removed: Set<String> = []
    private var isClosed = false
    private static let maxRemoved = 1_000

    /// - Parameters:
    ///   - folder: Its folder.
    ///   - maxBytes: The most bytes of all pictures.
    init(folder: URL, maxBytes: Int) { (self.folder, self.maxBytes) = (folder, maxBytes) }

    private func file(_ id: String, _ size: PictureSize) -> URL {
        // File systems may ignore the case of letters, and ids do not.
        let name = SHA256.digest(of: Data(id.utf8)).prefix(16).hexadecimal
        return folder.appendingPathComponent("\(name)-\(size.rawValue)")
    }

    /// A picture that is there; nil if it is not.
    func picture(_ id: String, _ size: PictureSize) -> Data? {
        let file = file(id, size)
        guard let contents = try? Disk.read(file) else { return nil }
        guard let picture = PictureFile.picture(in: contents) else {
            discard(file)
            return nil
        }
        try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: file.path)
        return picture
    }

    /// Keeps a picture, if there is room.
    func keep(_ data: Data, _ id: String, _ size: PictureSize) {
        guard !isClosed, !removed.contains(id), data.count <= maxBytes / 4 else { return }
        let file = file(id, size)
        discard(file)
        do {
            try disk.makeFolder(folder)
            try PictureFile.write(data, to: file)
            byteCount = byteCount.map { $0 + data.count + PictureFile.checksumBytes }
            trim()
        } catch {
            // A full disk only makes the next look slower.
            try? disk.remove(file)
        }
    }

    /// Removes a file, if it is there.
    private func discard(_ file: URL) {
        let count = Self.byteCount(of: file)
        guard (try? disk.remove(file)) != nil else { return }
        byteCount = byteCount.map { $0 - count }
    }

    /// Removes all pictures of a photo.
    func remove(_ id: String) {
        if removed.count >= Self.maxRemoved { removed = [] }
        removed.insert(id)
        for size in PictureSize.allCases { discard(file(id, size)) }
    }

    /// Removes all pictures, and keeps none from now on.
    func close() {
        isClosed = true
        try? disk.remove(folder)
    }

    private func trim() {
        let keys: Set<URLResourceKey> = [.fileSizeKey, .contentModificationDateKey]
        if let byteCount, byteCount <= maxBytes { return }
        let files =
            (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: Array(keys))) ?? []
        var entries = files.map { file in
            let values = try? file.resourceValues(forKeys: keys)
            return (file, values?.fileSize ?? 0, values?.contentModificationDate ?? .distantPast)
        }
        var total = entries.reduce(0) { $0 + $1.1 }
        if total > maxBytes {
            entries.sort { $0.2 < $1.2 }
            // A tenth less, so that the next pictures need no look at all files.
            for (file, count, _) in entries where total > maxBytes - maxBytes / 10 {
                guard (try? disk.remove(file)) != nil else { continue }
                total -= count
            }
        }
        byteCount = total
    }

    private static func byteCount(of file: URL) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) ?? 0
    }
}

/// A picture as a file: its bytes and their SHA-256.
///
/// It is not synchronized, which takes long on a phone: a picture that is lost is loaded again. What a crash or a power cut
/// leaves of a file does not fit its checksum.
private enum PictureFile {
    static let checksumBytes = SHA256.byteCount

    static func write(_ picture: Data, to file: URL) throws {
        let descriptor = try Disk.open(file, O_WRONLY | O_CREAT | O_TRUNC)
        defer { close(descriptor) }
        try Disk.write(picture, to: descriptor)
        try Disk.write(SHA256.digest(of: picture), to: descriptor)
    }

    /// The picture of a file; nil if the file is torn.
    static func picture(in contents: Data) -> Data? {
        let picture = contents.dropLast(checksumBytes)
        return SHA256.digest(of: picture) == contents.suffix(checksumBytes) ? picture : nil
    }
}
