import Foundation
import ServerProcesses

/// The processes of a PostgreSQL server of a test's own.
struct PostgresProcesses: Sendable {
    /// The folder that the server's data lies in.
    let folder: URL

    /// Ends the server and all of its sessions at once, as a crash would.
    func kill() async throws {
        let postmaster = try postmaster()
        Foundation.kill(postmaster, SIGQUIT)
        try await poll("the server is gone") { Foundation.kill(postmaster, 0) != 0 }
    }

    /// Ends the server and all of its sessions with SIGKILL.
    func killHard() async throws {
        let postmaster = try postmaster()
        try await ProcessTable.halt(postmaster)
        let processes = try [postmaster] + ProcessTable.children(of: postmaster)
        for process in processes { Foundation.kill(process, SIGKILL) }
        try await poll("the server is gone") { processes.allSatisfy { Foundation.kill($0, 0) != 0 } }
    }

    /// Halts the server and its sessions: connections are taken, and nothing is answered.
    func suspend() async throws {
        let postmaster = try postmaster()
        try await ProcessTable.halt(postmaster)
        for child in try ProcessTable.children(of: postmaster) { try await ProcessTable.halt(child) }
    }

    /// Lets a halted server run on.
    func resume() {
        guard let postmaster = try? postmaster() else { return }
        for child in (try? ProcessTable.children(of: postmaster)) ?? [] { ProcessTable.resume(child) }
        ProcessTable.resume(postmaster)
    }

    /// The processor time of all of its processes since the start, those that have ended among them.
    func processorTime() throws -> Duration {
        let postmaster = try postmaster()
        return try ProcessTable.children(of: postmaster).reduce(
            ProcessTable.processorTime(of: postmaster, withEndedChildren: true)
        ) { $0 + ProcessTable.processorTime(of: $1) }
    }

    private func postmaster() throws -> pid_t {
        let file = folder.appending(path: "data/postmaster.pid")
        let line = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").first
        guard let processID = line.flatMap({ pid_t($0) }) else { throw NotInTime(what: "postmaster.pid") }
        return processID
    }
}
