import Curl
import NIOCore
import NIOHTTP1

extension S3Client {
    /// Fetches an object, or a part of it.
    ///
    /// - Parameters:
    ///   - key: 1 to ``maxKeyBytes`` bytes of UTF-8.
    ///   - range: which positions, at least one; nil for all. A range beyond the end is refused with status 416.
    /// - Returns: the head, and the bytes, which are still to be read.
    /// - Throws: any case of ``S3Error``, ``S3Error/notFound(_:)`` when there is no such object.
    package func get(key: String, range: Range<Int>? = nil) async throws(S3Error) -> S3Object {
        try await get(key: key, range: range, by: deadline(in: deadlines.call))
    }

    func get(key: String, range: Range<Int>? = nil, by deadline: Deadline) async throws(S3Error) -> S3Object {
        try Self.check(key: key)
        var request = S3Request(method: .GET, key: key)
        if let range {
            guard range.lowerBound >= 0, !range.isEmpty else { throw .invalidArgument(.range) }
            request.headers.add(name: "Range", value: "bytes=\(range.lowerBound)-\(range.upperBound - 1)")
        }
        return try await perform(request, by: deadline) { response in
            S3Object(
                info: try S3ObjectInfo(response.headers),
                bytes: S3ByteStream(body: response.body)
            )
        }
    }

    /// Asks for the same head as ``get(key:range:)``, without the bytes.
    ///
    /// - Parameter key: 1 to ``maxKeyBytes`` bytes of UTF-8.
    /// - Returns: the head; nil when there is no such object or bucket.
    /// - Throws: any case of ``S3Error`` but ``S3Error/notFound(_:)``.
    package func head(key: String) async throws(S3Error) -> S3ObjectInfo? {
        try await head(key: key, by: deadline(in: deadlines.call))
    }

    func head(key: String, by deadline: Deadline) async throws(S3Error) -> S3ObjectInfo? {
        try Self.check(key: key)
        do {
            let request = S3Request(method: .HEAD, key: key)
            return try await perform(request, by: deadline) { response in
                try S3ObjectInfo(response.headers)
            }
        } catch .notFound {
            return nil
        }
    }

    static func check(key: String) throws(S3Error) {
        guard (1...maxKeyBytes).contains(key.utf8.count) else { throw .invalidArgument(.key) }
    }
}
