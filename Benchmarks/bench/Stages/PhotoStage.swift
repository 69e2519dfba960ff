import Curl
import Foundation
import NIOCore
import S3
import ServerProcesses

/// The servers for photos: a service on disk and nginx, a service on S3 and the S3 server itself.
struct PhotoStage: Sendable {
    /// How many connections each measurement uses.
    static let connections = 8
    /// The size of a selfie that an app has shrunk, and of one from the camera.
    static let smallBytes = 300_000
    static let largeBytes = 20_000_000
    private static let bucket = "selfies"

    let small: Pair
    let large: Pair
    let largePhoto: ByteBuffer
    /// The service that keeps its photos in the bucket.
    let bucketService: RunningServer
    let s3: S3Client

    /// The same photo from the service and from the server to compare with.
    struct Pair: Sendable {
        let selfieURL: String
        let otherURL: String
    }

    /// Sets everything up, runs `body`, and ends everything in any case.
    static func with<Result: Sendable>(
        databaseURL: String,
        diskService: RunningServer,
        objects: URL,
        in folder: URL,
        _ body: (PhotoStage) async throws -> Result
    ) async throws -> Result {
        say("Starting an S3 server, a service on it, and nginx.")
        let smallPhoto = try await Service.upload(photo(bytes: smallBytes), to: diskService.origin)
        return try await RcloneServer.withServer { rclone in
            try await NginxServer.with(serving: objects, in: folder) { nginx in
                try await Service.with(databaseURL: databaseURL, store: settings(rclone)) { bucketService in
                    let s3 = try client(of: rclone)
                    let largePhoto = photo(bytes: largeBytes)
                    let stored = try await Service.upload(largePhoto, to: bucketService.origin)
                    let presigned = try await s3.presignedGet(key: stored.randomID, expires: 86_400, at: Date())
                    return try await body(
                        PhotoStage(
                            small: Pair(
                                selfieURL: smallPhoto.url,
                                otherURL: "\(nginx.origin)/\(smallPhoto.randomID)"
                            ),
                            large: Pair(selfieURL: stored.url, otherURL: presigned.url),
                            largePhoto: largePhoto,
                            bucketService: bucketService,
                            s3: s3
                        )
                    )
                }
            }
        }
    }

    private static func settings(_ rclone: RcloneServer) -> [String: String] {
        [
            "S3_BUCKET_NAME": bucket,
            "AWS_ACCESS_KEY_ID": rclone.accessKeyID,
            "AWS_SECRET_ACCESS_KEY": rclone.secretAccessKey,
            "AWS_ENDPOINT_URL_S3": rclone.endpoint,
            "PHOTO_DELIVERY": "proxy",
        ]
    }

    private static func client(of rclone: RcloneServer) throws -> S3Client {
        S3Client(
            curl: Service.curl,
            configuration: try S3Configuration(
                bucket: bucket,
                region: "us-east-1",
                endpoint: rclone.endpoint
            ),
            credentials: S3CredentialCache(
                source: .fixed(
                    try S3Credentials(
                        accessKeyID: rclone.accessKeyID,
                        secretAccessKey: rclone.secretAccessKey
                    )
                ),
                curl: Service.curl,
                now: { Date() }
            ),
            now: { Date() }
        )
    }

    /// The signature of a PNG of 640 by 480 pixels, and its chunk `IHDR`.
    private static let pngHead: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x02, 0x80, 0x00, 0x00, 0x01, 0xE0, 0x08, 0x02, 0x00, 0x00, 0x00, 0xBA, 0xB3, 0x4B, 0xB3,
    ]
    /// The chunk `IEND`.
    private static let pngEnd: [UInt8] = [
        0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]

    /// A PNG with bytes that can't be compressed, in a chunk `IDAT` without its sum.
    private static func photo(bytes count: Int) -> ByteBuffer {
        var photo = ByteBuffer(bytes: pngHead)
        var generator = SystemRandomNumberGenerator()
        let byteCount = count - pngHead.count - 12 - pngEnd.count
        photo.writeInteger(UInt32(byteCount))
        photo.writeString("IDAT")
        for _ in 0..<byteCount / 8 { photo.writeInteger(generator.next()) }
        photo.writeRepeatingByte(0, count: byteCount % 8 + 4)
        photo.writeBytes(pngEnd)
        return photo
    }
}
