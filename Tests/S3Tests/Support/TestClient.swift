import AsyncHTTPClient
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
    source: S3CredentialSource? = nil,
    deadlines: S3Deadlines = S3Deadlines(),
    retries: S3RetryPolicy = S3RetryPolicy(),
    uploads: S3UploadPolicy = S3UploadPolicy(),
    now: @escaping @Sendable () -> Date = { Date() },
    perform body: (S3Client) async throws -> Result
) async throws -> Result {
    let httpClient = HTTPClient(configuration: S3Client.httpClientConfiguration(deadlines: deadlines))
    do {
        let client = S3Client(
            httpClient: httpClient,
            configuration: try S3Configuration(bucket: bucket, region: region, endpoint: endpoint),
            credentials: S3CredentialCache(
                source: try source ?? .fixed(S3Credentials(accessKeyID: keys.id, secretAccessKey: keys.secret)),
                httpClient: httpClient,
                now: now
            ),
            deadlines: deadlines,
            retries: retries,
            uploads: uploads,
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
    of server: any S3Server,
    bucket: String = "photos",
    uploads: S3UploadPolicy = S3UploadPolicy(),
    perform body: (S3Client) async throws -> Result
) async throws -> Result {
    let keys = (server.accessKeyID, server.secretAccessKey)
    return try await withClient(
        endpoint: server.endpoint,
        bucket: bucket,
        keys: keys,
        uploads: uploads,
        perform: body
    )
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

    /// So many bytes, made while they are read.
    static func streamed(_ length: Int) -> Self {
        let piece = 64 * 1024
        var digests = ObjectDigests()
        for offset in stride(from: 0, to: length, by: piece) {
            digests.update(pattern(offset..<min(offset + piece, length)))
        }
        return Self(length: length, sha256Hex: digests.sha256Hex, md5Hex: digests.md5Hex, read: { pattern($0) })
    }

    /// Bytes that tell where they belong: each stretch of 4,096 is of another one.
    private static func pattern(_ range: Range<Int>) -> ByteBuffer {
        var bytes = ByteBuffer()
        while bytes.readableBytes < range.count {
            let (stretch, offset) = (range.lowerBound + bytes.readableBytes).quotientAndRemainder(dividingBy: 4_096)
            let count = min(4_096 - offset, range.count - bytes.readableBytes)
            bytes.writeRepeatingByte(UInt8(truncatingIfNeeded: stretch &* 31), count: count)
        }
        return bytes
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
