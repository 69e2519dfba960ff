import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

/// The numbers are those that the documents promise.
@Suite("An export of 5 GB", .serialized, .timeLimit(.minutes(30)))
struct ExportSoakTests {
    private static let photoBytes = 64 << 20
    private static let photoCount = 80
    private static let maxGrowth = 8

    @Test("It takes 8 MiB of memory at most, and other programs open it", arguments: TestStore.allCases)
    func memory(store: TestStore) async throws {
        try await ServedSelfie.run(store: store, settings: ["PHOTO_DELIVERY": "proxy"]) { served in
            let service = served.service
            let token = try await service.makeToken()
            try await TemporaryFolder.with { folder in
                // What a first export loads for good does not count.
                _ = try await Self.download(service, token: token, to: folder.appending(path: "first.zip"))
                try await Self.addPhotos(to: service)
                let file = folder.appending(path: "export.zip")
                let growth = try await ProcessMemory.growth(of: served.process.processID) {
                    let count = try await Self.download(service, token: token, to: file)
                    #expect(count > Self.photoBytes * Self.photoCount)
                }
                #expect(growth <= Self.maxGrowth, "\(growth) MiB")
                try await UnpackedExport.with(fileAt: file) { export in
                    #expect(export.photoNames.count == Self.photoCount)
                }
            }
        }
    }

    /// Reads 64 KiB at a time.
    private static func download(_ service: TestService, token: String, to file: URL) async throws -> Int {
        let command = try PythonScript.command("read_slowly.py")
        let outcome = try await ProgramOutcome.run(
            URL(filePath: command[0]),
            [command[1], service.origin + "/api/export", token, file.path],
            directory: file.deletingLastPathComponent(),
            patience: .seconds(1_200)
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        return Int(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    /// Adds photos whose files have the same bytes, and are the same file where the store is a folder.
    private static func addPhotos(to service: TestService) async throws {
        let keys = (0..<photoCount).map { "photo\($0)".padding(toLength: 43, withPad: "x", startingAt: 0) }
        let bytes = TestImage.png(bytes: photoBytes)
        switch service.objects {
        case .disk(let folder):
            try await service.objects.write(bytes, key: keys[0])
            for key in keys.dropFirst() {
                try FileManager.default.linkItem(
                    at: folder.appending(path: keys[0]),
                    to: folder.appending(path: key)
                )
            }
        case .s3:
            try await service.objects.makeBucket()
            try await service.objects.write(keys, bytes)
        }
        for key in keys {
            try await service.postgres.write(
                """
                INSERT INTO photos (user_id, name, title, random_id, content_type, byte_count, state)
                SELECT id, 'photo', 'A title', \(key), 'image/png', \(photoBytes), 'ready' FROM users
                """
            )
        }
    }
}
