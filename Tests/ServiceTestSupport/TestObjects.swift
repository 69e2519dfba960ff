package import Foundation
import NIOCore
import S3
import S3TestSupport
package import ServerProcesses

/// Which of the stores a test runs against.
package enum TestStore: String, CaseIterable, Sendable {
    case disk
    /// A bucket of the server that all tests of a run share.
    case s3
    /// A server of its own, which the test may end or halt.
    case ownS3

    /// The two kinds that the service knows.
    package static let allCases: [TestStore] = [.disk, .s3]
}

/// A store of a test's own, and a look at it from outside the service.
package enum TestObjects: Sendable {
    case disk(URL)
    case s3(RcloneServer, bucket: String = "selfies")

    /// Runs a body with a new, empty store.
    static func with<Result>(
        _ store: TestStore,
        _ body: (TestObjects) async throws -> Result
    ) async throws -> Result {
        switch store {
        case .s3:
            let (server, bucket) = (try await RcloneServer.shared, "selfies-\(UUID().uuidString.lowercased())")
            defer { try? FileManager.default.removeItem(at: server.directory.appending(path: bucket)) }
            return try await body(.s3(server, bucket: bucket))
        case .ownS3:
            return try await RcloneServer.withServer { try await body(.s3($0)) }
        case .disk:
            let folder = FileManager.default.temporaryDirectory.appending(path: "objects-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            return try await body(.disk(folder))
        }
    }

    /// The service's settings of the store.
    package var settings: [String: String] {
        switch self {
        case .disk(let folder): ["OBJECTS_PATH": folder.path]
        case .s3(let server, let bucket):
            [
                "S3_BUCKET_NAME": bucket,
                "AWS_ACCESS_KEY_ID": server.accessKeyID,
                "AWS_SECRET_ACCESS_KEY": server.secretAccessKey,
                "AWS_ENDPOINT_URL_S3": server.endpoint,
            ]
        }
    }

    /// Makes the bucket, as its administrator would.
    ///
    /// - Throws: `S3Error`.
    package func makeBucket() async throws {
        guard case .s3(let server, let bucket) = self else { return }
        try await withS3Client(of: server, bucket: bucket) { try await $0.createBucket() }
    }

    private var folder: URL {
        switch self {
        case .disk(let folder): folder
        case .s3(let server, let bucket): server.directory.appending(path: bucket)
        }
    }

    /// The keys of all objects, of unfinished ones too, sorted.
    package func keys() -> [String] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let urls: [URL] = files?.compactMap { $0 as? URL } ?? []
        return urls.filter { !$0.hasDirectoryPath }.map { file in
            // Only small pictures have slashes in their keys.
            let path = String(file.path.dropFirst(folder.path.count + 1))
            return path.hasPrefix("renditions") ? path.replacing("%2F", with: "/") : file.lastPathComponent
        }.sorted()
    }

    /// An object's bytes; nil when there is none.
    package func bytes(key: String) -> Data? {
        try? Data(contentsOf: folder.appending(path: name(of: key)))
    }

    /// The file of an object in the store's folder.
    private func name(of key: String) -> String {
        guard case .disk = self, key.hasPrefix("renditions/") else { return key }
        return key.replacing("/", with: "%2F")
    }

    /// Removes an object behind the service's back.
    ///
    /// - Throws: `S3Error`, or an error of Foundation's.
    package func remove(key: String) async throws {
        switch self {
        case .disk(let folder): try FileManager.default.removeItem(at: folder.appending(path: name(of: key)))
        case .s3(let server, let bucket):
            try await withS3Client(of: server, bucket: bucket) { try await $0.delete(key: key) }
        }
    }

    /// Puts an object there behind the service's back.
    ///
    /// - Throws: `S3Error`, or an error of Foundation's.
    package func write(_ bytes: Data, key: String) async throws {
        try await write([key], bytes)
    }

    /// Puts objects with the same bytes there behind the service's back.
    ///
    /// - Throws: `S3Error`, or an error of Foundation's.
    package func write(_ keys: [String], _ bytes: Data) async throws {
        switch self {
        case .disk(let folder):
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for key in keys { try bytes.write(to: folder.appending(path: name(of: key))) }
        case .s3(let server, let bucket):
            let body = S3Body(ByteBuffer(bytes: bytes))
            try await withS3Client(of: server, bucket: bucket) { client in
                for key in keys { try await client.put(key: key, body: body, contentType: "image/jpeg") }
            }
        }
    }
}
