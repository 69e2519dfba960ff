import Encodings
import FoundationEssentials
import Glibc
import LinuxFiles
import NIOCore
import ObjectStore
import S3

/// Checks the folder of photos: it exists, is writable, private and permanent, and has room.
struct FolderDiagnosis: Sendable {
    let path: String
    let maxUploadBytes: Int
    let findings: Findings

    func run() async {
        do {
            guard let status = try FolderStatus(path: path) else { return reportMissing() }
            guard status.isFolder else {
                findings.failed("OBJECTS_PATH is not a folder", "Name a folder in OBJECTS_PATH, or move the file away.")
                return findings.skipped("put, get and delete")
            }
            if await checkProbe() { check(status) }
        } catch {
            findings.failed("OBJECTS_PATH can't be looked at (\(error))", Self.permissionAdvice)
            findings.skipped("put, get and delete")
        }
    }

    private static let permissionAdvice = """
        The user that runs Selfie must own the folder, and be allowed to enter each folder above it: \
        chown <user> <folder> and chmod 700 <folder>.
        """

    /// The service makes it when it starts.
    ///
    /// A check must not change anything.
    private func reportMissing() {
        var parent = URL(filePath: path).deletingLastPathComponent().path
        while access(parent, F_OK) != 0, parent.count > 1 {
            parent = URL(filePath: parent).deletingLastPathComponent().path
        }
        if (try? FolderStatus(path: parent))?.isFolder == true, access(parent, W_OK | X_OK) == 0 {
            findings.ok("OBJECTS_PATH is not there yet; the service makes it when it starts")
        } else {
            findings.failed(
                "OBJECTS_PATH is not there, and can't be made",
                "Make the folder, or name another in OBJECTS_PATH. \(Self.permissionAdvice)"
            )
        }
        findings.skipped("put, get and delete, until the folder is there")
    }

    private func checkProbe() async -> Bool {
        let key = Diagnosis.probePrefix + RandomIdentifier.makeSecret()
        let bytes = ByteBuffer(string: key)
        do {
            let store = try DiskObjectStore(directory: path)
            var spool = Spool()
            try await spool.append(bytes)
            try await store.put(try await spool.finish(), key: key, contentType: "application/octet-stream")
            let read = Result { try Data(contentsOf: URL(filePath: "\(path)/\(key)")) }
            do {
                try await store.delete(ObjectDeletion(key: key))
            } catch {
                findings.failed(
                    "the file \(key) can't be deleted (\(Self.reason(error)))",
                    "Delete it by hand. \(Self.permissionAdvice)"
                )
                return false
            }
            guard try read.get().elementsEqual(bytes.readableBytesView) else {
                findings.failed(
                    "what is written there is read back with other bytes",
                    "The disk or its file system is faulty: look into the system's log (dmesg), and keep no photos there."
                )
                return false
            }
            findings.ok("a file can be written, read and deleted")
            return true
        } catch {
            let reason = Self.reason(error)
            findings.failed("a file can't be written, read and deleted (\(reason))", Self.permissionAdvice)
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
            findings.warning(
                "every user of this machine can look into it",
                "Run: chmod 700 \(path)"
            )
        } else {
            findings.ok("other users of this machine can't look into it")
        }
        switch status.fileSystem {
        case .memory:
            findings.warning(
                "it is on a file system in memory (tmpfs), which is empty after a restart",
                "Name a folder on a disk in OBJECTS_PATH, and move what is there."
            )
        case .container:
            findings.warning(
                "it is on the container's own file system, which goes with the container",
                "Mount a volume, and name a folder on it in OBJECTS_PATH."
            )
        case .other: break
        }
        findings.room(status.freeBytes, maxUploadBytes: maxUploadBytes)
    }
}

extension Findings {
    /// This many of the largest photos should fit in.
    private static let minUploads = 10

    /// Reports whether there is room for some uploads.
    func room(_ freeBytes: Int, maxUploadBytes: Int) {
        let needed = maxUploadBytes * Self.minUploads
        let free = "\(freeBytes >> 20) MiB are free"
        guard freeBytes < needed else { return ok(free) }
        warning(
            "only \(free)",
            """
            UPLOAD_BYTES_MAX allows photos of \(max(1, maxUploadBytes >> 20)) MiB, and \(Self.minUploads) of them need \
            \(max(1, needed >> 20)) MiB. Make room, or take a larger disk: uploads that find none are answered 503.
            """
        )
    }
}
