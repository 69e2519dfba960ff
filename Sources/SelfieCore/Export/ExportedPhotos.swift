import Budgets
import ImageFiles
import JSON
import NIOCore
import ObjectStore
import SelfiePhotos
import ZipArchive

/// Fetches a user's photos from the store, one after another.
struct ExportedPhotos: Sendable {
    let photos: PhotoStore
    let objects: any ObjectStore
    let spools: SpoolBudget
    let userID: Int
    /// The most bytes of a photo.
    let maxBytes: Int
    /// How long to wait before each further try.
    let pauses: [Duration]

    /// A photo, or why it is missing.
    enum Outcome {
        case found(MeasuredFile, OwnPhoto)
        case missing(MissingPhoto, OwnPhoto?)
    }

    /// Fetches a photo as it is now.
    ///
    /// All of its bytes are in a temporary file then. So a slow client keeps no connection of the store.
    ///
    /// - Parameter item: The photo.
    /// - Returns: The photo, or why it is missing.
    /// - Throws: `ObjectStoreError` when the store does not work for long, `TooBusy` when there is no room for
    ///   temporary files for long, `PostgresError`, what reading or writing a file throws.
    func fetch(_ item: ExportPlan.Item) async throws -> Outcome {
        var tried: OwnPhoto?
        while true {
            guard let photo = try await photos.ownPhoto(item.id, ofUser: userID) else {
                return .missing(.deleted, nil)
            }
            // Its object may have been replaced since its row was read. One that was looked for twice is not there.
            if let tried, tried.objectKey == photo.objectKey { return .missing(.noObject, photo) }
            switch try await fetchPatiently(photo) {
            case .missing(.noObject, _): tried = photo
            case let outcome: return outcome
            }
        }
    }

    private func fetchPatiently(_ photo: OwnPhoto) async throws -> Outcome {
        for pause in pauses {
            do {
                return try await fetch(photo)
            } catch ObjectStoreError.unavailable(let cause) where !(cause is CancellationError) {
                try await Task.sleep(for: pause)
            } catch is TooBusy {
                try await Task.sleep(for: pause)
            }
        }
        return try await fetch(photo)
    }

    private func fetch(_ photo: OwnPhoto) async throws -> Outcome {
        guard let object = try await open(photo.objectKey) else { return .missing(.noObject, photo) }
        guard photo.byteCount ?? object.length == object.length else { return .missing(.otherLength, photo) }
        guard object.length <= maxBytes else { return .missing(.tooLarge, photo) }
        let file = try await spooled(object.bytes)
        guard file.object.length == object.length else { throw ObjectStoreError.unavailable(IncompleteObject()) }
        return .found(file, photo)
    }

    private func open(_ key: String) async throws -> OpenObject? {
        do {
            return try await objects.open(key: key, range: nil)
        } catch ObjectStoreError.invalidKey {
            return nil
        }
    }

    private func spooled(_ bytes: ObjectBytes) async throws -> MeasuredFile {
        var spool = MeasuredSpool(spools, userID: userID)
        try await bytes.forEachChunk { try await spool.append($0) }
        return try await spool.finish()
    }
}

/// The store sent another number of bytes than it announced.
private struct IncompleteObject: Error {}

extension OwnPhoto {
    /// Its format; nil when it is not known.
    func format(of object: SpooledObject) async throws -> ImageFormat? {
        if let contentType { return ImageFormat(rawValue: contentType) }
        let prefix = try await object.bytes(in: 0..<min(object.length, ImageFormat.prefixBytes))
        return ImageFormat(leadingBytes: prefix.readableBytesView)
    }

    /// Adds the members that a list has, without the URL, and those of an export.
    ///
    /// - Parameters:
    ///   - file: The name in the archive; nil for a photo that is not there.
    ///   - json: Gets the members.
    func writeJSON(file: String?, to json: inout JSONWriter) {
        json.member("file", file)
        columns.name.withUnsafeBytes { json.member("name", utf8: $0) }
        columns.title.withUnsafeBytes { json.member("title", utf8: $0) }
        columns.randomID.withUnsafeBytes { json.member("random_id", utf8: $0) }
        Self.write(columns.createdAt, as: "created_at", to: &json) { $0.member($1, utf8: $2) }
        Self.write(columns.byteCount, as: "byte_count", to: &json) { $0.member($1, number: $2) }
        Self.write(columns.contentType, as: "content_type", to: &json) { $0.member($1, utf8: $2) }
        Self.write(columns.width, as: "width", to: &json) { $0.member($1, number: $2) }
        Self.write(columns.height, as: "height", to: &json) { $0.member($1, number: $2) }
        json.member("listed", isListed)
    }

    private static func write(
        _ value: ArraySlice<UInt8>?,
        as name: JSONKey,
        to json: inout JSONWriter,
        _ add: (inout JSONWriter, JSONKey, UnsafeRawBufferPointer) -> Void
    ) {
        guard let value else { return json.null(name) }
        value.withUnsafeBytes { add(&json, name, $0) }
    }
}
