import Foundation

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
        guard let data = try? Disk.read(file) else { return nil }
        try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: file.path)
        return data
    }

    /// Keeps a picture, if there is room.
    func keep(_ data: Data, _ id: String, _ size: PictureSize) {
        guard !isClosed, !removed.contains(id), data.count <= maxBytes / 4 else { return }
        do {
            try disk.makeFolder(folder)
            let file = file(id, size)
            let before = Self.byteCount(of: file)
            try disk.replace(file, with: data)
            if let count = byteCount { byteCount = count + data.count - before }
            trim()
        } catch {
            // A full disk only makes the next look slower.
        }
    }

    /// Removes all pictures of a photo.
    func remove(_ id: String) {
        if removed.count >= Self.maxRemoved { removed = [] }
        removed.insert(id)
        for size in PictureSize.allCases {
            let file = file(id, size)
            let count = Self.byteCount(of: file)
            guard (try? disk.remove(file)) != nil else { continue }
            byteCount = byteCount.map { $0 - count }
        }
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
