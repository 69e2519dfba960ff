import Foundation
import NIOCore
import S3
import Synchronization
import TestSupport
import Testing

@testable import LinuxFiles
@testable import ObjectStore

@Suite("The order of the operations on a file")
struct FileStepsTests {
    /// Notes the calls, and can have one fail.
    private final class Recorder: Sendable {
        private let notes = Mutex<[String]>([])
        private let folder: String
        private let failing: String?

        init(_ folder: URL, failing: String? = nil) {
            self.folder = folder.path
            self.failing = failing
        }

        /// Such as `synchronize .incoming/*`.
        var calls: [String] { notes.withLock { $0 } }

        private func note(_ call: String, _ paths: String...) throws {
            let names = paths.map { path in
                let name = path.replacing(folder, with: "").trimmingCharacters(in: ["/"])
                // Names of unfinished files are made up.
                return name.hasPrefix(".incoming/") ? ".incoming/*" : name
            }
            let text = ([call] + names).joined(separator: " ").trimmingCharacters(in: .whitespaces)
            notes.withLock { $0.append(text) }
            if text == failing { throw PosixFileError(call: "test", code: EIO) }
        }

        private func path(_ file: PosixFile) throws -> String {
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file.descriptor)")
        }

        var steps: FileSteps {
            let calls = FileSteps()
            return FileSteps(
                create: { path in
                    try self.note("create", path)
                    return try calls.create(path)
                },
                write: { file, bytes in
                    try self.note("write", self.path(file))
                    try calls.write(file, bytes)
                },
                synchronize: { file in
                    try self.note("synchronize", self.path(file))
                    try calls.synchronize(file)
                },
                rename: { path, newPath in
                    try self.note("rename", path, newPath)
                    try calls.rename(path, newPath)
                },
                remove: { path in
                    try self.note("remove", path)
                    try calls.remove(path)
                }
            )
        }
    }

    private func object(bytes count: Int) async throws -> SpooledObject {
        var spool = Spool()
        try await spool.append(ByteBuffer(bytes: TestImage.png(bytes: count)))
        return try await spool.finish()
    }

    @Test(
        "A file is synchronized before it is renamed, and its folder before put returns",
        arguments: [(1_000, 1), (1_048_577, 5)]
    )
    func put(bytes: Int, writes: Int) async throws {
        try await TemporaryFolder.with { folder in
            let recorder = Recorder(folder)
            let store = try DiskObjectStore(directory: folder.path, steps: recorder.steps)
            let object = try await object(bytes: bytes)
            try await store.put(object, key: "key", contentType: "image/png")
            #expect(
                recorder.calls
                    == ["create .incoming/*"] + Array(repeating: "write .incoming/*", count: writes) + [
                        "synchronize .incoming/*", "rename .incoming/* key", "synchronize",
                    ]
            )
            #expect(try Data(contentsOf: folder.appending(path: "key")) == TestImage.png(bytes: bytes))
        }
    }

    @Test(
        "A put that fails before its end throws, and leaves no unfinished file",
        arguments: ["create .incoming/*", "write .incoming/*", "synchronize .incoming/*", "rename .incoming/* key"]
    )
    func failure(call: String) async throws {
        try await TemporaryFolder.with { folder in
            let recorder = Recorder(folder, failing: call)
            let store = try DiskObjectStore(directory: folder.path, steps: recorder.steps)
            let object = try await object(bytes: 1_000)
            await #expect(throws: ObjectStoreError.self) {
                try await store.put(object, key: "key", contentType: "image/png")
            }
            #expect(recorder.calls.last == "remove .incoming/*")
            #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path) == [".incoming"])
        }
    }

    @Test("A put throws if the file's name may not survive a crash")
    func unsynchronizedName() async throws {
        try await TemporaryFolder.with { folder in
            let store = try DiskObjectStore(
                directory: folder.path,
                steps: Recorder(folder, failing: "synchronize").steps
            )
            let object = try await object(bytes: 1_000)
            await #expect(throws: ObjectStoreError.self) {
                try await store.put(object, key: "key", contentType: "image/png")
            }
        }
    }

    @Test("A call's deletions survive a power loss before it returns, with one synchronization")
    func deletion() async throws {
        try await TemporaryFolder.with { folder in
            let recorder = Recorder(folder)
            let store = try DiskObjectStore(directory: folder.path, steps: recorder.steps)
            try Data().write(to: folder.appending(path: "a"))
            let failures = try await store.delete([ObjectDeletion(key: "a"), ObjectDeletion(key: "b")])
            #expect(failures.isEmpty)
            #expect(recorder.calls == ["remove a", "remove b", "synchronize"])
        }
    }

    @Test("A deletion that may not survive a crash throws, so that its entry stays")
    func unsynchronizedDeletion() async throws {
        try await TemporaryFolder.with { folder in
            let steps = Recorder(folder, failing: "synchronize").steps
            let store = try DiskObjectStore(directory: folder.path, steps: steps)
            await #expect(throws: ObjectStoreError.self) { _ = try await store.delete([ObjectDeletion(key: "a")]) }
        }
    }

    @Test("Synchronizing asks the system")
    func system() throws {
        // There is nothing to synchronize of this one, and the system says so.
        let file = try #require(try PosixFile.open(path: "/dev/null"))
        let error = #expect(throws: PosixFileError.self) { try file.synchronize() }
        #expect(error?.code == EINVAL)
        let folder = try #require(try PosixFile.open(path: "/tmp"))
        try FileSteps().synchronize(folder)
        #expect(throws: PosixFileError.self) { try FileSteps().synchronize(file) }
    }
}
