import Cryptography
import FoundationEssentials
import Glibc
import LinuxFiles
import NIOCore
import NIOPosix
import ObjectStore
import S3

/// Checks the folder of photos: it exists, is writable, private and permanent, and has room.
struct FolderCheck: Sendable {
    let path: String
    let maxUploadBytes: Int
    let findings: Findings

    private static let permissions =
        "The user that runs Selfie must own the folder, and be allowed to enter each folder above it."

    func run() async {
        do {
            guard let status = try FolderStatus(path: path) else { return reportMissing() }
            guard status.isFolder else {
                findings.failed("OBJECTS_PATH is not a folder", "Name a folder in OBJECTS_PATH, or move the file away.")
                return findings.skipped("put, get and delete")
            }
            if await checkProbe() { check(status) }
        } catch {
            findings.failed("OBJECTS_PATH can't be examined (\(error))", Self.permissions)
            findings.skipped("put, get and delete")
        }
    }

    /// The service makes the folder when it starts, and a check must not change anything.
    private func reportMissing() {
        var parent = path
        repeat {
            parent = URL(filePath: parent).deletingLastPathComponent().path
        } while access(parent, F_OK) != 0 && parent.count > 1
        if (try? FolderStatus(path: parent))?.isFolder == true, access(parent, W_OK | X_OK) == 0 {
            findings.ok("OBJECTS_PATH does not exist yet; the service creates it when it starts")
        } else {
            findings.failed(
                "OBJECTS_PATH does not exist, and can't be created",
                "Create the folder. \(Self.permissions)"
            )
        }
        findings.skipped("put, get and delete, until the folder exists")
    }

    private func checkProbe() async -> Bool {
        let key = InstallationCheck.probePrefix + RandomIdentifier.makeSecret()
        let bytes = ByteBuffer(string: key)
        do {
            let store = try DiskObjectStore(directory: path)
            var spool = Spool()
            try await spool.append(bytes)
            try await store.put(try await spool.finish(), key: key, contentType: "application/octet-stream")
            let read = Result { try Data(contentsOf: URL(filePath: "\(path)/\(key)")) }
            try await store.delete(ObjectDeletion(key: key))
            guard try read.get().elementsEqual(bytes.readableBytesView) else {
                findings.failed(
                    "what is written there is read back with other bytes",
                    "Look into the system's log (dmesg): the disk or its file system is faulty."
                )
                return false
            }
            findings.ok("a file can be written, read and deleted")
            return true
        } catch {
            findings.failed("\(key) can't be written, read and deleted (\(Self.reason(error)))", Self.permissions)
            return false
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case ObjectStoreError.unavailable(let cause), ObjectStoreError.refused(let cause): "\(cause)"
        case let error as UnusableFolder: error.reason
        case let error as CocoaError: "error \(error.code.rawValue)"
        default: "\(error)"
        }
    }

    private func check(_ status: FolderStatus) {
        if status.isOpenToOthers {
            findings.warning("every user of this machine can look into it", "Run: chmod 700 \(path)")
        } else {
            findings.ok("other users of this machine can't look into it")
        }
        let remedy = "Name a folder on a disk or a volume in OBJECTS_PATH, and move what is there."
        switch status.fileSystem {
        case .memory: findings.warning("it is in memory (tmpfs), and empty after a restart", remedy)
        case .container: findings.warning("it is the container's own, and is lost with the container", remedy)
        case .other: break
        }
        findings.room(status.freeBytes, maxUploadBytes: maxUploadBytes)
    }
}

extension Findings {
    /// Checks the folder where uploads wait until they are stored.
    func checkTemporaryFolder(maxUploadBytes: Int) async {
        let path = FileManager.default.temporaryDirectory.path
        do {
            let status = try await NIOThreadPool.singleton.runIfActive {
                let file = try PosixFile.makeTemporary()
                try [UInt8](repeating: 0, count: Spool.blockBytes).withUnsafeBytes { try file.write($0) }
                return try FolderStatus(path: path)
            }
            ok("files can be written in \(path)")
            if let status { room(status.freeBytes, maxUploadBytes: maxUploadBytes) }
        } catch {
            failed(
                "no file can be written in \(path) (\(error)), and larger uploads are answered 503",
                "Let the user that runs Selfie write there, make room, or name another folder in TMPDIR."
            )
        }
    }

    /// This many of the largest photos should fit in.
    private static let minUploads = 10

    /// Reports whether there is room for some uploads.
    func room(_ freeBytes: Int, maxUploadBytes: Int) {
        let neededBytes = maxUploadBytes * Self.minUploads
        let free = "\(freeBytes >> 20) MiB are free"
        guard freeBytes < neededBytes else { return ok(free) }
        warning(
            "only \(free), and \(Self.minUploads) photos of UPLOAD_BYTES_MAX need \(max(1, neededBytes >> 20))",
            "Make room, or use a larger disk: uploads that find no room are answered 503."
        )
    }
}
