import Foundation
import Testing

@testable import SelfieClient

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
