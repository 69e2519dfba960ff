package import FoundationEssentials
import NIOCore
package import S3

/// Objects in a bucket.
package struct S3ObjectStore: ObjectStore {
    let client: S3Client
    /// The pauses before a broken transfer begins again.
    private let transferPauses: [Duration]

    /// - Parameters:
    ///   - client: The bucket's.
    ///   - transferPauses: The pauses before a broken transfer begins again.
    package init(client: S3Client, transferPauses: [Duration] = S3Download.pauses) {
        self.client = client
        self.transferPauses = transferPauses
    }

    package func prepare() async throws(ObjectStoreError) {
        try await Self.call { () async throws(S3Error) in try await client.prepare() }
    }

    /// Makes the bucket if it is missing, as far as the keys may ask.
    ///
    /// - Throws: `ObjectStoreError`.
    package func makeBucketIfMissing() async throws(ObjectStoreError) {
        do {
            try await prepare()
        } catch {
            if error.isMissingBucket {
                return try await Self.call { () async throws(S3Error) in
                    do throws(S3Error) {
                        try await client.createBucket()
                    } catch .refused(let failure) where failure.status == 409 {
                        // Someone else was faster. The first put shows whether we may write to the bucket.
                    }
                }
            }
            guard case .refused = error else { throw error }
        }
    }

    package func hashed(_ object: SpooledObject) async throws(ObjectStoreError) -> SpooledObject {
        do {
            return try await object.hashed()
        } catch {
            throw .unavailable(error)
        }
    }

    package func put(
        _ object: SpooledObject,
        key: String,
        contentType: String
    ) async throws(ObjectStoreError) -> String? {
        let digests: ObjectDigests
        do {
            digests = try await object.digests()
        } catch {
            throw .unavailable(error)
        }
        let body = S3Body(length: object.length, sha256Hex: digests.sha256Hex, md5Hex: digests.md5Hex) { range in
            try await object.bytes(in: range)
        }
        return try await Self.call { () async throws(S3Error) in
            try await client.put(key: key, body: body, contentType: contentType)
        }
    }

    package func delete(_ objects: [ObjectDeletion]) async throws(ObjectStoreError) -> [String: any Error] {
        do {
            return try await client.delete(objects)
        } catch {
            // A bucket that is not there is not empty: it may be renamed, or missing for a moment.
            throw error.isMissingBucket ? .unavailable(error) : ObjectStoreError(error)
        }
    }

    package func length(key: String) async throws(ObjectStoreError) -> Int? {
        try await Self.call { () async throws(S3Error) in try await client.head(key: key)?.contentLength }
    }

    /// Whether the bucket has an object of these bytes.
    package func holds(key: String, length: Int, digests: ObjectDigests) async throws(ObjectStoreError) -> Bool {
        try await Self.call { () async throws(S3Error) in
            try await client.holds(key: key, length: length, digests: digests)
        }
    }

    package func open(key: String, range: Range<Int>?) async throws(ObjectStoreError) -> OpenObject? {
        try await S3Download.begin(client: client, key: key, range: range, pauses: transferPauses)
    }

    package func publicURL(
        key: String,
        at date: Date,
        endingBy end: Date,
        isHead: Bool,
        answering headers: AnswerHeaders
    ) async throws(ObjectStoreError) -> PublicURL? {
        let window = PresignedWindow(at: date, endingBy: end)
        let url = try await Self.call { () async throws(S3Error) in
            try await client.presignedGet(
                key: key,
                expires: window.seconds,
                at: window.start,
                isHead: isHead,
                answering: headers
            )
        }
        return PublicURL(url: url.url, end: url.end)
    }

    /// A bucket shows no object before its put is complete.
    ///
    /// `reconcile` finds parts that were left behind.
    package func removeLeftovers(from date: Date) async throws(ObjectStoreError) {}

    package func forEachPage(_ body: ([ObjectEntry]) async throws -> Void) async throws {
        try await Self.forEachPage({ next throws(S3Error) in try await client.list(from: next) }, body)
    }

    package func forEachPageOfUnfinishedPuts(_ body: ([UnfinishedPut]) async throws -> Void) async throws {
        try await Self.forEachPage({ next throws(S3Error) in try await client.listUploads(from: next) }, body)
    }

    private static func forEachPage<Entry, Marker>(
        _ list: (Marker?) async throws(S3Error) -> Page<Entry, Marker>,
        _ body: ([Entry]) async throws -> Void
    ) async throws {
        var next: Marker?
        repeat {
            let page = try await call { () async throws(S3Error) in try await list(next) }
            if !page.entries.isEmpty { try await body(page.entries) }
            next = page.next
        } while next != nil
    }

    package func abandon(_ put: UnfinishedPut) async throws(ObjectStoreError) -> Bool {
        for key in put.spellings {
            let wasThere = try await Self.call { () async throws(S3Error) in
                try await client.abortUpload(key: key, uploadID: put.id)
            }
            if wasThere { return true }
        }
        return false
    }

    package func forEachPageOfVersions(_ body: ([ObjectVersion]) async throws -> Void) async throws {
        do {
            try await client.forEachPageOfVersions { entries in
                let versions = entries.filter { !$0.isCurrent }
                if !versions.isEmpty { try await body(versions) }
            }
        } catch let error as S3Error {
            // A bucket that is not there has none.
            guard error.isMissingBucket else { throw ObjectStoreError(error) }
        }
    }

    /// Makes a call to the bucket and translates its error.
    static func call<Result>(
        _ body: () async throws(S3Error) -> Result
    ) async throws(ObjectStoreError) -> Result {
        do {
            return try await body()
        } catch {
            throw ObjectStoreError(error)
        }
    }
}

extension ObjectStoreError {
    /// Translates an error of the bucket.
    init(_ error: S3Error) {
        self =
            switch error {
            case .notFound, .refused: .refused(error)
            case .invalidArgument: .invalidKey
            case .cancelled: .unavailable(CancellationError())
            case .unavailable, .source, .noCredentials: .unavailable(error)
            }
    }

    /// Whether the keys may not do this, and are good for others perhaps.
    package var isDenied: Bool {
        guard case .refused(let error as S3Error) = self else { return false }
        return error.isDenial
    }

    /// Whether the bucket is missing.
    package var isMissingBucket: Bool {
        guard case .refused(S3Error.notFound(let failure)) = self else { return false }
        return failure.code == "NoSuchBucket"
    }
}
