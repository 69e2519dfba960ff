import NIOCore
import S3

/// A transfer from a bucket, only as fast as its bytes are asked for.
///
/// When it breaks off, another request continues it from there.
package actor S3Download {
    private let client: S3Client
    private let key: String
    private let end: Int
    private var position: Int
    private var chunks: S3ByteStream.Iterator?
    /// The tag of the first answer, so that bytes of two objects are never mixed.
    private let tag: String?
    private let pauses: [Duration]
    private var triesWithoutProgress = 0
    /// Bytes that arrived before they were requested.
    private var first: ByteBuffer?

    /// The pauses before the transfer begins again, until it brings bytes.
    ///
    /// A bucket that restarts refuses all tries of a call at once.
    package static let pauses: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2)]

    private init(client: S3Client, key: String, range: Range<Int>, pauses: [Duration], object: S3Object) {
        self.client = client
        self.key = key
        self.pauses = pauses
        position = range.lowerBound
        end = range.upperBound
        tag = object.info.etag
        chunks = object.bytes.makeAsyncIterator()
    }

    /// Opens an object and waits for its first bytes.
    ///
    /// If the bucket fails before them, the client can still get a refusal.
    ///
    /// - Parameters:
    ///   - client: The bucket's.
    ///   - key: Names the object.
    ///   - range: Which bytes, at least one; nil for all.
    ///   - pauses: How long to wait before each further try, until it brings bytes.
    /// - Returns: nil when there is no such object.
    /// - Throws: `ObjectStoreError`.
    static func begin(
        client: S3Client,
        key: String,
        range: Range<Int>?,
        pauses: [Duration]
    ) async throws(ObjectStoreError) -> OpenObject? {
        let object = try await S3ObjectStore.call { () async throws(S3Error) -> S3Object? in
            do throws(S3Error) {
                return try await client.get(key: key, range: range)
            } catch .notFound(let failure) where failure.code != "NoSuchBucket" {
                return nil
            }
        }
        guard let object else { return nil }
        let length = try object.info.wholeLength(range: range)
        let download = S3Download(client: client, key: key, range: range ?? 0..<length, pauses: pauses, object: object)
        try await download.readFirst()
        let next = { @Sendable () async throws(ObjectStoreError) in try await download.next() }
        return OpenObject(length: length, bytes: .transfer(next))
    }

    private func next() async throws(ObjectStoreError) -> ByteBuffer? {
        if let chunk = first.take() { return chunk }
        while position < end {
            let failure: ObjectStoreError
            do throws(ObjectStoreError) {
                if let chunk = try await read() { return chunk }
                failure = .unavailable(BrokenTransfer.endedEarly)
            } catch {
                failure = error
            }
            try await pause(after: failure)
        }
        // Read to its end: otherwise the connection could not be used again.
        if var rest = chunks.take() { _ = try? await rest.next(isolation: self) }
        return nil
    }

    private func readFirst() async throws(ObjectStoreError) {
        guard position < end else { return }
        first = try await read()
        // As nothing is sent yet, the client gets a refusal at once.
        guard first != nil else { throw .unavailable(BrokenTransfer.endedEarly) }
    }

    /// Waits before the next try, if one is left.
    private func pause(after failure: ObjectStoreError) async throws(ObjectStoreError) {
        guard
            case .unavailable(let cause) = failure, !(cause is CancellationError),
            triesWithoutProgress < pauses.count
        else { throw failure }
        let pause = pauses[triesWithoutProgress]
        triesWithoutProgress += 1
        do {
            try await Task.sleep(for: pause)
        } catch {
            throw .unavailable(error)
        }
    }

    private func read() async throws(ObjectStoreError) -> ByteBuffer? {
        var chunks = try await takeChunks()
        let chunk: ByteBuffer?
        do {
            chunk = try await chunks.next(isolation: self)
        } catch {
            throw ObjectStoreError(error)
        }
        guard let chunk else { return nil }
        guard chunk.readableBytes <= end - position else { throw .refused(BrokenTransfer.anotherObject) }
        self.chunks = chunks
        position += chunk.readableBytes
        triesWithoutProgress = 0
        return chunk
    }

    /// Takes the bytes from the position on out of the state: a failed transfer is not used again.
    private func takeChunks() async throws(ObjectStoreError) -> S3ByteStream.Iterator {
        if let chunks = chunks.take() { return chunks }
        let rest = position..<end
        let object = try await S3ObjectStore.call { () async throws(S3Error) in
            try await client.get(key: key, range: rest)
        }
        _ = try object.info.wholeLength(range: rest)
        guard object.info.etag == tag else { throw .refused(BrokenTransfer.anotherObject) }
        return object.bytes.makeAsyncIterator()
    }
}

/// Why a transfer can't be finished.
enum BrokenTransfer: Error {
    /// The store sent fewer bytes than it announced.
    case endedEarly
    /// The store sends other bytes than were requested, or those of another object.
    case anotherObject
}

extension S3ObjectInfo {
    /// The length of the whole object.
    ///
    /// Throws when the answer does not match the request.
    fileprivate func wholeLength(range: Range<Int>?) throws(ObjectStoreError) -> Int {
        guard let contentRange else {
            guard range == nil || range == 0..<contentLength else { throw .refused(BrokenTransfer.anotherObject) }
            return contentLength
        }
        guard
            let range, contentLength == range.count,
            let slash = contentRange.lastIndex(of: "/"),
            contentRange[..<slash] == "bytes \(range.lowerBound)-\(range.upperBound - 1)",
            let length = Int(contentRange[contentRange.index(after: slash)...])
        else { throw .refused(BrokenTransfer.anotherObject) }
        return length
    }
}
