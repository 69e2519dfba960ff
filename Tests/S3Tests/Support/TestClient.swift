import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import Synchronization
import TestSupport

@testable import S3

/// Makes a client for the time of the body.
func withClient<Result>(
    endpoint: String,
    bucket: String = "photos",
    region: String = "us-east-1",
    keys: (id: String, secret: String) = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    deadlines: S3Deadlines = S3Deadlines(),
    retries: S3RetryPolicy = S3RetryPolicy(),
    now: @escaping @Sendable () -> Date = { Date() },
    perform body: (S3Client) async throws -> Result
) async throws -> Result {
    let httpClient = HTTPClient(configuration: S3Client.httpClientConfiguration(deadlines: deadlines))
    do {
        let client = S3Client(
            httpClient: httpClient,
            configuration: try S3Configuration(bucket: bucket, region: region, endpoint: endpoint),
            credentials: try S3Credentials(accessKeyID: keys.id, secretAccessKey: keys.secret),
            deadlines: deadlines,
            retries: retries,
            now: now
        )
        let result = try await body(client)
        try await httpClient.shutdown()
        return result
    } catch {
        try await httpClient.shutdown()
        throw error
    }
}

/// Makes a client for a server's own keys.
func withClient<Result>(
    of server: RcloneServer,
    bucket: String = "photos",
    perform body: (S3Client) async throws -> Result
) async throws -> Result {
    let keys = (server.accessKeyID, server.secretAccessKey)
    return try await withClient(endpoint: server.endpoint, bucket: bucket, keys: keys, perform: body)
}

/// The error that the operation throws; nil when it throws none.
func failure(of operation: () async throws(S3Error) -> Void) async -> S3Error? {
    do {
        try await operation()
        return nil
    } catch {
        return error
    }
}

extension S3Body {
    /// A body that lies in memory.
    init(_ text: String) {
        self.init(ByteBuffer(string: text))
    }

    /// So many bytes, made chunk by chunk while they are read.
    static func streamed(_ length: Int, chunk: Int = 64 * 1024) -> Self {
        var hash = SHA256()
        for offset in stride(from: 0, to: length, by: chunk) {
            hash.update(data: Data(pattern(at: offset, count: min(chunk, length - offset)).readableBytesView))
        }
        return Self(
            length: length,
            sha256Hex: hash.finalize().map { String(format: "%02x", $0) }.joined(),
            makeChunks: { Self.chunks(length, chunk: chunk) }
        )
    }

    /// The bytes of ``streamed(_:chunk:)`` as a sequence.
    static func chunks(_ length: Int, chunk: Int) -> AsyncThrowingStream<ByteBuffer, any Error> {
        let offset = Mutex(0)
        return AsyncThrowingStream(unfolding: {
            offset.withLock { offset in
                guard offset < length else { return nil }
                let part = pattern(at: offset, count: min(chunk, length - offset))
                offset += part.readableBytes
                return part
            }
        })
    }

    private static func pattern(at offset: Int, count: Int) -> ByteBuffer {
        ByteBuffer(repeating: UInt8(truncatingIfNeeded: offset / 4_096 &* 31), count: count)
    }
}

extension S3ByteStream {
    /// All bytes at once.
    func collect() async throws(S3Error) -> ByteBuffer {
        var bytes = ByteBuffer()
        for try await var chunk in self { bytes.writeBuffer(&chunk) }
        return bytes
    }
}
