import FoundationEssentials
import NIOCore
import S3

/// Objects in a bucket.
struct S3ObjectStore: ObjectStore {
    let client: S3Client

    func prepare() async throws(ObjectStoreError) {
        try await Self.call { () async throws(S3Error) in try await client.prepare() }
    }

    func put(_ object: SpooledObject, key: String, contentType: String) async throws(ObjectStoreError) {
        let digests = object.digests
        let body = S3Body(length: object.length, sha256Hex: digests.sha256Hex, md5Hex: digests.md5Hex) { range in
            try await object.bytes(in: range)
        }
        try await Self.call { () async throws(S3Error) in
            try await client.put(key: key, body: body, contentType: contentType)
        }
    }

    func delete(keys: [String]) async throws(ObjectStoreError) -> [String: any Error] {
        try await Self.call { () async throws(S3Error) in try await client.delete(keys: keys) }
    }

    func length(key: String) async throws(ObjectStoreError) -> Int? {
        try await Self.call { () async throws(S3Error) in try await client.head(key: key)?.contentLength }
    }

    func open(key: String, range: Range<Int>?) async throws(ObjectStoreError) -> OpenObject? {
        try await S3Download.begin(client: client, key: key, range: range)
    }

    func publicURL(key: String, at date: Date, endingBy end: Date) async throws(ObjectStoreError) -> PublicURL? {
        let window = PresignedWindow(at: date, endingBy: end)
        let url = try await Self.call { () async throws(S3Error) in
            try await client.presignedGet(key: key, expires: window.seconds, at: window.start)
        }
        return PublicURL(url: url.url, end: url.end)
    }

    /// A bucket shows no object before its put is complete.
    func removeLeftovers(from date: Date) async throws(ObjectStoreError) {}

    /// Makes a call to the bucket, and sorts its error.
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
    /// Sorts an error of the bucket's.
    init(_ error: S3Error) {
        self =
            switch error {
            case .notFound, .refused: .refused(error)
            case .invalidArgument: .invalidKey
            case .cancelled: .unavailable(CancellationError())
            case .unavailable, .source, .noCredentials: .unavailable(error)
            }
    }
}
