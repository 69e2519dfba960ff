import Foundation
import Testing

@testable import SelfieClient

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("The lock of a folder")
struct FolderLockTests {
    /// A second descriptor of the lock's open file.
    private func duplicate(of file: URL) -> Int32? {
        var (named, open) = (stat(), stat())
        guard stat(file.path, &named) == 0 else { return nil }
        let found = (Int32(0)..<1024).first {
            fstat($0, &open) == 0 && open.st_ino == named.st_ino && open.st_dev == named.st_dev
        }
        return found.map { dup($0) }
    }

    @Test("Once it is released, the next one gets it, even if a forked process still has the descriptor")
    func release() async throws {
        try await TestFolder.with { folder in
            try Disk().makeFolder(folder)
            let lock = try FolderLock(folder)
            let forked = try #require(duplicate(of: folder.appendingPathComponent("lock")))
            defer { close(forked) }
            #expect(throws: SelfieError.self) { try FolderLock(folder) }
            lock.release()
            #expect(throws: Never.self) { try FolderLock(folder) }
        }
    }
}
