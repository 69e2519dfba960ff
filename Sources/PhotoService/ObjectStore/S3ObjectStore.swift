import FoundationEssentials
import NIOCore
import S3

/// Objects in a bucket.
struct S3ObjectStore: ObjectStore {
    let client: S3Client

    /// Clients may be handed a URL straight to the bucket for this long at most.
    private static let presignedSecondsMax = 3600

    func put(_ object: SpooledObject, key: String, contentType: String) async throws(ObjectStoreError) {
        let digests = object.digests
        let body = S3Body(length: object.length, sha256Hex: digests.sha256Hex, md5Hex: digests.md5Hex) { range in
            try await object.bytes(in: range)
        }
        try await call { () async throws(S3Error) in
            try await client.put(key: key, body: body, contentType: contentType)
        }
    }

    func delete(keys: [String]) async throws(ObjectStoreError) -> [String: any Error] {
        try await call { () async throws(S3Error) in try await client.delete(keys: keys) }
    }

    func delivery(
        key: String,
        secondsMax: Int,
        from date: Date
    ) async throws(ObjectStoreError) -> ObjectDelivery? {
        let seconds = min(secondsMax, Self.presignedSecondsMax)
        return try await call { () async throws(S3Error) in
            .redirect(url: try await client.presignedGet(key: key, expires: seconds, at: date).url, seconds: seconds)
        }
    }

    /// A bucket shows no object before its put is complete.
    func removeLeftovers(from date: Date) async throws(ObjectStoreError) {}

    private func call<Result>(
        _ body: () async throws(S3Error) -> Result
    ) async throws(ObjectStoreError) -> Result {
        do {
            return try await body()
        } catch {
            throw switch error {
            case .notFound, .refused: .refused(error)
            case .invalidArgument: .invalidKey
            case .unavailable, .source, .noCredentials, .cancelled: .unavailable(error)
            }
        }
    }
}
