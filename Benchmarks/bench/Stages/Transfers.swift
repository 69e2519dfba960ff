import Cryptography
import Curl
import Encodings
import Foundation
import NIOCore
import NIOHTTP1
import S3

/// Parallel uploads.
///
/// Each task uploads one photo after another until the time is over.
enum Transfers {
    /// Uploads a photo through the service.
    static func throughService(_ stage: PhotoStage, seconds: Int) async throws -> TransferMeasurement {
        let upload = Upload(stage.largePhoto)
        let origin = stage.bucketService.origin
        return try await measure(bytes: stage.largePhoto.readableBytes, seconds: seconds) { task in
            let token = BenchData.uploaderTokens[task % BenchData.uploaderTokens.count]
            let request = upload.request(to: origin, token: token)
            return try await Service.curl.answer(to: request, within: .seconds(60)).status == .ok
        }
    }

    /// Puts the same photo straight to the S3 server, each time signed over its hash.
    static func direct(_ stage: PhotoStage, seconds: Int) async throws -> TransferMeasurement {
        let (photo, s3) = (stage.largePhoto, stage.s3)
        // The client compares the answer with it. A direct put would not need it.
        let md5Hex = S3Body(photo).md5Hex
        return try await measure(bytes: photo.readableBytes, seconds: seconds) { _ in
            let sha256Hex = SHA256.hash(photo.readableBytesView).hexadecimal
            let body = S3Body(length: photo.readableBytes, sha256Hex: sha256Hex, md5Hex: md5Hex) { range in
                photo.getSlice(at: range.lowerBound, length: range.count) ?? ByteBuffer()
            }
            try await s3.put(key: "direct-\(UInt64.random(in: 0...UInt64.max))", body: body, contentType: "image/png")
            return true
        }
    }

    private static func measure(
        bytes: Int,
        seconds: Int,
        _ upload: @escaping @Sendable (_ task: Int) async throws -> Bool
    ) async throws -> TransferMeasurement {
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        let (count, failures) = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for task in 0..<PhotoStage.connections {
                group.addTask {
                    var (count, failures) = (0, 0)
                    repeat {
                        if try await upload(task) { count += 1 } else { failures += 1 }
                    } while ContinuousClock.now < end
                    return (count, failures)
                }
            }
            return try await group.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
        }
        return TransferMeasurement(
            bytesPerSecond: Double(count * bytes) / ((ContinuousClock.now - start) / .seconds(1)),
            failureCount: failures
        )
    }
}
