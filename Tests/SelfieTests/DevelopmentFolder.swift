import DatabaseTestSupport
import Foundation
import Glibc
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport

/// A folder as a newcomer has it after cloning: migrations and an example photo, and nothing else.
struct DevelopmentFolder {
    let url: URL

    /// What `selfie dev` prints when it is ready.
    static let address = #"Selfie is at http://127\.0\.0\.1:(\d+)\."#

    /// Runs a body in a new folder whose cluster was made before, since that takes long; its database is empty.
    static func withCluster(_ body: (DevelopmentFolder) async throws -> Void) async throws {
        try await with { folder in
            let state = folder.url.appending(path: ".selfie")
            try FileManager.default.createDirectory(at: state, withIntermediateDirectories: false)
            try await PristineCluster.copy(to: state.appending(path: "postgres"))
            try await body(folder)
        }
    }

    /// Runs a body in a new folder; whatever it starts there is ended afterwards.
    static func with(_ body: (DevelopmentFolder) async throws -> Void) async throws {
        try await TemporaryFolder.with { url in
            let folder = DevelopmentFolder(url: url)
            defer { for processID in folder.processIDs() { kill(processID, SIGKILL) } }
            try url.copyMigrations()
            try FileManager.default.createDirectory(at: url.appending(path: "docs"), withIntermediateDirectories: false)
            try TestImage.jpeg.write(to: url.appending(path: "docs/example.jpg"))
            try await body(folder)
        }
    }

    func startDev(port: Int = 0) throws -> SelfieProcess {
        try SelfieProcess(["dev", "--port", "\(port)"], directory: url)
    }

    /// Starts `selfie dev` and waits until it serves.
    ///
    /// - Returns: The process and its port.
    func startDevAndWait() async throws -> (process: SelfieProcess, port: Int) {
        let process = try startDev()
        let port = try await process.waitForOutput(Self.address)
        return (process, Int(port) ?? 0)
    }

    /// All processes, of this user or another, that work in this folder.
    ///
    /// A PostgreSQL server's working directory is its data folder.
    func processIDs() -> [pid_t] {
        ((try? ProcessTable.all()) ?? []).filter { processID in
            ProcessTable.workingDirectory(of: processID).map { ($0 + "/").hasPrefix(url.path + "/") } ?? false
        }
    }

    /// Those of `processIDs()` that are PostgreSQL's.
    func serverIDs() -> [pid_t] {
        processIDs().filter { ProcessTable.name(of: $0)?.hasPrefix("postgres") ?? false }
    }

    /// Runs a block of lines as a newcomer pastes it.
    ///
    /// - Returns: What it printed, without its errors.
    func paste(_ script: String) async throws -> [String] {
        let outcome = try await ProgramOutcome.run(URL(filePath: "/bin/sh"), ["-c", script], directory: url)
        return outcome.output.split(separator: "\n").map(String.init)
    }
}
