import Foundation
import Testing

@testable import SelfieClient

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("The files of uploads")
struct UploadFileTests {
    private static func make(_ file: URL, hoursAgo: Double) throws {
        try Data("photo".utf8).write(to: file)
        let date = Date(timeIntervalSinceNow: -hoursAgo * 3600)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
    }

    @Test("Those that the app's end has left go after a day, and no others")
    func abandoned() async throws {
        try await TestFolder.with { folder in
            let old = UploadFile.temporary(UUID()).lastPathComponent
            let young = UploadFile.temporary(UUID()).lastPathComponent
            for name in [old, old + ".pieces", "another"] {
                try Self.make(folder.appendingPathComponent(name), hoursAgo: 25)
            }
            try Self.make(folder.appendingPathComponent(young), hoursAgo: 23)
            UploadFile.removeAbandoned(in: folder)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(Set(names) == [young, "another"])
        }
    }

    @Test("A photo beyond the limit is too large for an upload without an outbox, and nothing is sent")
    func tooLarge() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { _, _ in .json("{}") }
            let selfie = try Selfie.scripted(transport, folder: folder) { $0.maxOutboxBytes = 10_000 }
            let source = PhotoSource.data(Data(count: 10_000))
            do {
                try await selfie.photos.upload(source, title: "x")
                Issue.record("It was uploaded.")
            } catch SelfieError.tooLarge(let refusal) {
                #expect(refusal.code == "request_too_large")
                #expect(SelfieError.tooLarge(refusal).localizedDescription == "It is too large.")
            }
            #expect(transport.all.isEmpty)
            await #expect(throws: SelfieError.outboxFull) { try await selfie.outbox.upload(source, title: "x") }
        }
    }

    @Test("One whose move fails closes its file once, and no other's")
    func failedMove() async throws {
        try await TestFolder.with { folder in
            // Whatever is opened behind the end of the file gets its number.
            let opened = Locked<[Int32]>([])
            defer { for descriptor in opened.withLock({ $0 }) { close(descriptor) } }
            let disk = Disk(beforeStep: { step in
                guard step == "move" else { return }
                opened.withLock { opened in
                    for _ in 0..<8 { opened.append(dup(STDERR_FILENO)) }
                }
                throw SelfieError.diskFull
            })
            let upload = UploadFile(title: "x", name: "photo", isListed: true, id: UUID())
            await #expect(throws: SelfieError.diskFull) {
                try await upload.write(
                    .data(Data("photo".utf8)),
                    to: folder.appendingPathComponent("upload"),
                    maxBytes: 1 << 20,
                    disk: disk
                )
            }
            let descriptors = opened.withLock { $0 }
            #expect(descriptors.count == 8)
            #expect(descriptors.allSatisfy { fcntl($0, F_GETFD) >= 0 })
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names.isEmpty)
        }
    }

    @Test("They go when a client starts", .timeLimit(.minutes(1)))
    func start() async throws {
        try await TestFolder.with { folder in
            let file = UploadFile.temporary(UUID())
            defer { try? FileManager.default.removeItem(at: file) }
            try Self.make(file, hoursAgo: 25)
            let selfie = try Selfie.scripted(ScriptedTransport { _, _ in .json("{}") }, folder: folder)
            try await poll { !FileManager.default.fileExists(atPath: file.path) }
            #expect(try selfie.userID == "ada")
        }
    }
}
