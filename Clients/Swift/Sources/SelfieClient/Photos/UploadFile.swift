import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The body of an upload as a file: `multipart/form-data` of RFC 7578, with the title, whether it is listed, and the photo.
///
/// It is a file so that the system can send it while the app is closed, and so that a photo is never whole in memory.
struct UploadFile: Sendable, Hashable, Codable {
    let title: String
    /// The photo's name.
    let name: String
    let isListed: Bool
    let boundary: String

    /// - Parameters:
    ///   - title: The photo's title.
    ///   - name: Its file's name.
    ///   - isListed: Whether the photo is in the list of photos.
    ///   - id: Makes the boundary, which must not be in the photo.
    init(title: String, name: String, isListed: Bool, id: UUID) {
        (self.title, self.name, self.isListed) = (title, name, isListed)
        boundary = "selfie-\(id.uuidString)"
    }

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    private var head: Data {
        // Quotes and line breaks as browsers write them.
        let name = name.replacingOccurrences(of: "\"", with: "%22").replacingOccurrences(of: "\r", with: "%0D")
            .replacingOccurrences(of: "\n", with: "%0A")
        var text = ""
        for (name, value) in [("title", title), ("listed", isListed ? "true" : "false")] {
            text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"image\"; filename=\"\(name)\"\r\n"
        text += "Content-Type: application/octet-stream\r\n\r\n"
        return Data(text.utf8)
    }

    private var tail: Data { Data("\r\n--\(boundary)--\r\n".utf8) }

    /// Writes the body.
    ///
    /// - Parameters:
    ///   - source: The photo.
    ///   - file: Where to; it is whole or not there.
    ///   - maxBytes: The most bytes that the file may have.
    ///   - disk: What writes it.
    ///   - excess: The error for more bytes.
    /// - Returns: The number of bytes of the file.
    /// - Throws: ``SelfieError/photoUnreadable`` for the source's file, ``SelfieError/diskFull``, `excess`,
    ///   ``SelfieError/storage(_:)``, or an error of the source's.
    func write(
        _ source: PhotoSource,
        to file: URL,
        maxBytes: Int,
        disk: Disk,
        excess: SelfieError = .outboxFull
    ) async throws -> Int {
        let part = file.appendingPathExtension("pieces")
        do {
            let descriptor = try Disk.open(part, O_WRONLY | O_CREAT | O_TRUNC)
            let count: Int
            do {
                // Once, also if what follows fails: its number may be another file's by then.
                defer { close(descriptor) }
                count = try await write(source, to: descriptor, maxBytes: maxBytes, disk: disk, excess: excess)
            }
            try disk.move(part, to: file)
            return count
        } catch {
            unlink(part.path)
            throw error
        }
    }

    /// Writes the body to a descriptor.
    private func write(
        _ source: PhotoSource,
        to descriptor: Int32,
        maxBytes: Int,
        disk: Disk,
        excess: SelfieError
    ) async throws -> Int {
        var count = 0
        func add(_ data: Data) throws {
            guard count + data.count <= maxBytes else { throw excess }
            try disk.beforeStep("write upload")
            try Disk.write(data, to: descriptor)
            count += data.count
        }
        try add(head)
        switch source {
        case .data(let data): try add(data)
        case .file(let url): try Self.read(url, add)
        case .writer(let write):
            try await write(add)
            // A cancelled task's sequence ends early, and the photo would be cut off.
            try Task.checkCancellation()
        }
        try add(tail)
        try disk.beforeStep("synchronize upload")
        try Disk.synchronize(descriptor)
        return count
    }

    // MARK: Uploads without an outbox

    /// What the service says to a body that is too large, said by the client.
    static let tooLarge = SelfieError.tooLarge(
        .init(status: 413, code: "request_too_large", message: "The request is too large")
    )

    private static let temporaryName = "selfie-upload-"
    private static let abandonedAfter: TimeInterval = 24 * 3600

    /// A file for an upload that ends with the app.
    static func temporary(_ id: UUID) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent(temporaryName + id.uuidString)
    }

    /// Removes files of such uploads that are older than a day: the app has ended in the middle of them.
    ///
    /// - Parameter folder: Where they are.
    static func removeAbandoned(in folder: URL = FileManager.default.temporaryDirectory) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(temporaryName) {
            let file = folder.appendingPathComponent(name)
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
            guard let date = attributes?[.modificationDate] as? Date, -date.timeIntervalSinceNow > abandonedAfter
            else { continue }
            unlink(file.path)
        }
    }

    private static func read(_ url: URL, _ add: (Data) throws -> Void) throws {
        let handle: FileHandle
        do {
            handle = try FileHandle(forReadingFrom: url)
        } catch {
            throw SelfieError.photoUnreadable
        }
        defer { try? handle.close() }
        while true {
            let piece: Data?
            do {
                piece = try handle.read(upToCount: 256 << 10)
            } catch {
                throw SelfieError.photoUnreadable
            }
            guard let piece, !piece.isEmpty else { return }
            try add(piece)
        }
    }
}
