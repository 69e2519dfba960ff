import FoundationEssentials
import LinuxFiles
import NIOPosix
import ObjectStore

/// Checks the folder where uploads wait until they are stored.
struct SpoolDiagnosis: Sendable {
    let maxUploadBytes: Int
    let findings: Findings

    func run() async {
        let path = FileManager.default.temporaryDirectory.path
        do {
            let status = try await NIOThreadPool.singleton.runIfActive {
                let file = try PosixFile.makeTemporary()
                try [UInt8](repeating: 0, count: Spool.blockBytes).withUnsafeBytes { try file.write($0) }
                return try FolderStatus(path: path)
            }
            findings.ok("files can be written in \(path)")
            if let status { findings.room(status.freeBytes, maxUploadBytes: maxUploadBytes) }
        } catch {
            findings.failed(
                "no file can be written in \(path) (\(error))",
                """
                Uploads of more than \(Spool.blockBytes >> 10) KiB wait there until they are stored, and are answered \
                503 now. Let the user that runs Selfie write there, make room, or name another folder in TMPDIR.
                """
            )
        }
    }
}
