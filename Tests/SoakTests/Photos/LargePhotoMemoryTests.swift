import ConnectionTestSupport
import Foundation
import ProcessTestSupport
import ServiceTestSupport
import Testing

/// The numbers are those that the service promises.
@Suite("Memory while photos of 100 MB come and go", .serialized, .timeLimit(.minutes(10)))
struct LargePhotoMemoryTests {
    private static let uploadCount = 16
    private static let maxUploadGrowth = 400
    private static let downloadCount = 64
    private static let maxDownloadGrowth = 100

    @Test("Sixteen parallel uploads to a bucket take 400 MiB at most")
    func uploads() async throws {
        let settings = [
            "UPLOAD_BYTES_MAX": LargePhoto.maxUploadBytes, "UPLOADS_AT_ONCE_PER_USER_MAX": "\(Self.uploadCount)",
        ]
        try await ServedSelfie.run(store: .s3, settings: settings) { served in
            let service = served.service
            let token = try await service.makeToken()
            #expect(try await service.upload(token: token).status == 200)
            let growth = try await ProcessMemory.growth(of: served.process.processID) {
                try await withThrowingTaskGroup(of: HTTPAnswer.self) { uploads in
                    for _ in 0..<Self.uploadCount {
                        uploads.addTask { try await Self.upload(to: service, token: token) }
                    }
                    for try await answer in uploads { #expect(answer.status == 200, "\(answer.text)") }
                }
            }
            #expect(growth <= Self.maxUploadGrowth)
            #expect(service.objects.keys().count == Self.uploadCount + 1)
        }
    }

    /// Uploads, and again when a machine that is busy with other tests was too slow for the time that a put has.
    private static func upload(to service: TestService, token: String) async throws -> HTTPAnswer {
        for _ in 0..<2 {
            let answer = try await LargePhoto.upload(to: service, token: token)
            if answer.status != 503 { return answer }
        }
        return try await LargePhoto.upload(to: service, token: token)
    }

    @Test("Sixty-four slow downloads through the service take 100 MiB at most, and delay no others")
    func downloads() async throws {
        let settings = ["UPLOAD_BYTES_MAX": LargePhoto.maxUploadBytes, "PHOTO_DELIVERY": "proxy"]
        try await ServedSelfie.run(store: .s3, settings: settings) { served in
            let service = served.service
            let token = try await service.makeToken()
            let uploaded = try await LargePhoto.upload(to: service, token: token)
            let url = try #require(uploaded.json["image_url"] as? String)
            let target = String(url.dropFirst(service.origin.count))
            let growth = try await ProcessMemory.growth(of: served.process.processID) {
                try await withSlowDownloads(of: target, from: service) {
                    for _ in 0..<3 {
                        let count = try await LargePhoto.download(target, from: service)
                        #expect(count > LargePhoto.byteCount)
                        let start = ContinuousClock.now
                        #expect(try await service.upload(token: token).status == 200)
                        #expect(ContinuousClock.now - start < .seconds(10))
                    }
                }
            }
            #expect(growth <= Self.maxDownloadGrowth)
        }
    }

    /// Runs a body while many clients read slowly, all of which have begun.
    private func withSlowDownloads(
        of target: String,
        from service: TestService,
        _ body: () async throws -> Void
    ) async throws {
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Int.self) { downloads in
            var begun = begins.makeAsyncIterator()
            for number in 0..<Self.downloadCount {
                // rclone reads a whole object before its answer's head; too many at once would wait too long for that.
                if number >= 2 { await begun.next() }
                downloads.addTask {
                    try await LargePhoto.download(target, from: service, pause: .milliseconds(500)) { begin.yield() }
                }
            }
            for _ in 0..<2 { await begun.next() }
            try await body()
            downloads.cancelAll()
            for try await count in downloads { #expect((1_000..<LargePhoto.byteCount).contains(count)) }
        }
    }
}
