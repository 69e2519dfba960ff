import Foundation
import Postgres
import ProcessTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The Swift client's outbox and the end of the app")
struct KilledAppTests {
    @Test(
        "An app that is killed at some steps, and the service with it: each photo is there once",
        .timeLimit(.minutes(2))
    )
    func kills() async throws {
        try await ClientKills(count: 12, serverKills: 6, stride: 5).run()
    }

    @Test(
        "A full disk fails the call, and what was handed over before arrives once",
        .timeLimit(.minutes(1)),
        arguments: [(photoBytes: 2_000, kilobytes: 8, error: "diskFull"), (40_000, 20, "diskFull")]
    )
    func fullDisk(photoBytes: Int, kilobytes: Int, error: String) async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await TemporaryFolder.with { folder in
                let names = try (0..<20).map { number in
                    try TestImage.png(bytes: photoBytes).write(to: folder.appending(path: "photo\(number)"))
                    return "photo\(number)"
                }
                let program = try SelfieProcess.executable.deletingLastPathComponent().appending(path: "client-process")
                let words = [program.path, service.origin, folder.path, ada.token, ada.id, "0"] + names
                // No file gets larger. Without the trap, the system would end the process.
                let limited = try await ProgramOutcome.run(
                    URL(filePath: "/bin/bash"),
                    ["-c", "trap '' XFSZ; ulimit -f \(kilobytes); exec \"$@\"", "bash"] + words,
                    directory: folder
                )
                #expect(limited.status != 0 && limited.errors.contains(error), "\(limited)")
                let again = try await ProgramOutcome.run(program, Array(words.dropFirst()), directory: folder)
                #expect(again.status == 0 && again.output.hasSuffix("refused: 0\n"), "\(again)")
                #expect(try await service.count("SELECT count(*) FROM photos WHERE state = 'ready'") == 20)
                #expect(try await service.count("SELECT count(DISTINCT title) FROM photos") == 20)
                #expect(try await service.count("SELECT count(*) FROM records WHERE version = 1") == 20)
                let uploads = try AccountTests.files(in: folder).filter { $0.contains("/uploads/") }
                #expect(uploads.isEmpty, "\(uploads)")
            }
        }
    }
}
