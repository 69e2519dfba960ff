import Foundation

/// One try to send an item.
struct Attempt: Sendable {
    private let item: StoredItem
    /// Whether the service may have done it already.
    private let mayBeDone: Bool
    private let session: Session
    /// The body of an upload.
    private let file: URL
    /// The ids of photos by the fields that get them.
    private let photoIDs: [String: String]

    init(_ item: StoredItem, _ mayBeDone: Bool, _ session: Session, file: URL, photoIDs: [String: String]) {
        (self.item, self.mayBeDone, self.session) = (item, mayBeDone, session)
        (self.file, self.photoIDs) = (file, photoIDs)
    }

    /// Sends the item.
    ///
    /// - Parameters:
    ///   - api: Sends the calls.
    ///   - disk: Is told of the steps.
    ///   - progress: Called as bytes are sent.
    /// - Returns: The photo of an upload, or the record that was written; or a ``SelfieError``, `CancellationError`, or what the
    ///   transport has thrown.
    func send(
        _ api: APIClient,
        _ disk: Disk,
        progress: @escaping @Sendable (UploadProgress) -> Void
    ) async -> Result<(photo: Photo?, record: SentRecord?), any Error> {
        do {
            try disk.beforeStep("send")
            switch item.content {
            case .upload(let upload, let byteCount):
                let photo = try await self.upload(upload, byteCount, api, progress)
                try disk.beforeStep("read answer")
                return .success((photo, nil))
            case .write(let write):
                let record = try await self.write(write, api)
                try disk.beforeStep("read answer")
                return .success((nil, record))
            }
        } catch {
            return .failure(error)
        }
    }

    private func upload(
        _ upload: UploadFile,
        _ byteCount: Int,
        _ api: APIClient,
        _ progress: @escaping @Sendable (UploadProgress) -> Void
    ) async throws -> Photo {
        var call = Photos.call(api, upload, file, key: item.id)
        (call.authentication, call.isTriedOnce) = (.session(session), true)
        call.backgroundID = item.id.uuidString
        let response = try await api.send(call) { sent in
            progress(UploadProgress(sentBytes: sent, totalBytes: Int64(byteCount)))
        }
        return try api.decode(Photo.self, from: response)
    }

    private func write(_ write: RecordWrite, _ api: APIClient) async throws -> SentRecord? {
        var write = write
        for field in item.photos.keys {
            guard let photoID = photoIDs[field], case .object(var body)? = write.body,
                case .object(var data)? = body["data"]
            else { throw SelfieError.dependencyDropped }
            data[field] = .string(photoID)
            body["data"] = .object(data)
            write.body = .object(body)
        }
        let response = try await write.send(api, session, isTriedOnce: true, mayBeMade: mayBeDone)
        // An inbox answers its sender without the record's version.
        return response.flatMap { try? JSONCoding.decode(SentRecord.self, from: $0.body) }
    }
}
