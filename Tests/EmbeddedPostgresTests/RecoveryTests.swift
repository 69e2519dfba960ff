import Foundation
import ServerProcesses
import Testing

@testable import EmbeddedPostgres

@Suite("What an accident left behind", .timeLimit(.minutes(3)))
struct RecoveryTests {
    @Test("A server that was killed is started again, by a new handle and by the same one")
    func killedServer() async throws {
        try await TestFolder.useWithData { folder in
            let url = try await folder.handle().start()
            _ = try await query(url, "create table kept as select 42 as number")
            try await kill(folder.postmaster())

            let handle = folder.handle()
            #expect(try await handle.start() == url)
            #expect(try await query(url, "select number from kept") == "42")
            try await kill(folder.postmaster())

            #expect(try await handle.start() == url)
            #expect(try await query(url, "select number from kept") == "42")
        }
    }

    @Test("A start waits for a killed server's last session, but not forever")
    func lingeringSession() async throws {
        try await TestFolder.useWithData { folder in
            let url = try await folder.handle().start()
            let session = Task { try await query(url, "select pg_sleep(601)") }
            let find = "select min(pid) from pg_stat_activity where query = 'select pg_sleep(601)'"
            try await poll("the session is open") { try await !query(url, find).isEmpty }
            let backend = try #require(pid_t(try await query(url, find)))
            // Stopped, it cannot notice that its server has ended.
            Foundation.kill(backend, SIGSTOP)
            defer { Foundation.kill(backend, SIGKILL) }
            try await kill(folder.postmaster())

            let error = await #expect(throws: EmbeddedPostgresError.self) {
                try await folder.handle(maxLingeringSessions: .zero).start()
            }
            #expect(error?.description.contains("pre-existing shared memory block") == true)

            let log = folder.cluster + "/postgres.log"
            unlink(log)
            let start = Task { try await folder.handle().start() }
            try await poll("the start has to wait") {
                let text = try? String(contentsOfFile: log, encoding: .utf8)
                return text?.contains("pre-existing shared memory block") == true
            }
            Foundation.kill(backend, SIGCONT)
            #expect(try await start.value == url)
            await #expect(throws: EmbeddedPostgresError.self) { try await session.value }
        }
    }

    @Test("A server that outlived its process is adopted, restarted where it is not as asked, and stopped")
    func adoption() async throws {
        try await TestFolder.useWithData { folder in
            let url = try await folder.handle(settings: ["max_connections": "21"]).start()
            let postmaster = try folder.postmaster()
            #expect(try await folder.handle(settings: ["max_connections": "21"]).start() == url)
            #expect(try folder.postmaster() == postmaster)

            #expect(try await folder.handle(settings: ["max_connections": "22"]).start() == url)
            #expect(try await query(url, "show max_connections") == "22")
            try await waitUntilGone(postmaster)

            let deaf = try folder.postmaster()
            unlink(folder.cluster + "/.s.PGSQL.5432")
            let heir = folder.handle(settings: ["max_connections": "22"])
            #expect(try await heir.start() == url)
            #expect(try await query(url, "select 1") == "1")
            try await waitUntilGone(deaf)

            let last = try folder.postmaster()
            try await heir.stop()
            try await waitUntilGone(last)
        }
    }

    @Test("A process number that now belongs to another program stops neither us nor that program")
    func recycledProcessNumber() async throws {
        try await TestFolder.useWithData { folder in
            let handle = folder.handle()
            let user = try ClusterUser.current()
            let note = folder.temporary + "/stranger"
            let program = Task {
                try await Command(user: user).run("sh", ["-c", "echo $$ > \(note); exec sleep 600"], in: "/tmp")
            }
            defer { program.cancel() }
            try await poll("the stranger has said its number") { processNumber(in: note) != nil }
            let stranger = try #require(processNumber(in: note))
            for file in ["/data/postmaster.pid", "/.s.PGSQL.5432.lock"] {
                let path = folder.cluster + file
                let lines = ["\(stranger)", "\(folder.cluster)/data", "1", "5432", folder.cluster, "", "1 1", "ready"]
                try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
            }
            let url = try await handle.start()
            #expect(try await query(url, "select 1") == "1")
            try await handle.stop()
            #expect(isAlive(stranger))
        }
    }

    @Test("A killed server that its parent has not reaped does not prevent the next start")
    func zombie() async throws {
        try await TestFolder.useWithData { folder in
            let handle = folder.handle()
            let user = try ClusterUser.current()
            let note = folder.temporary + "/zombie"
            // The shell becomes a program that never asks for its child, which must not end before.
            let script = "sleep 600 & echo $! > \(note); echo $$ > \(note).parent; exec sleep 600"
            let parent = Task { try await Command(user: user).run("sh", ["-c", script], in: "/tmp") }
            defer { parent.cancel() }
            try await poll("both numbers are known") { processNumber(in: note + ".parent") != nil }
            let number = try #require(processNumber(in: note))
            let parentNumber = try #require(processNumber(in: note + ".parent"))
            try await poll("the shell has become another program") {
                ProcessTable.name(of: parentNumber) == "sleep"
            }
            Foundation.kill(number, SIGKILL)
            try await poll("the child has ended") { ProcessTable.state(of: number) == "Z" }
            let lines = ["\(number)", "\(folder.cluster)/data", "1", "5432", folder.cluster, "", "1 1", "ready"]
            try (lines.joined(separator: "\n") + "\n")
                .write(toFile: folder.cluster + "/data/postmaster.pid", atomically: true, encoding: .utf8)
            #expect(try await query(try await handle.start(), "select 1") == "1")
            try await handle.stop()
        }
    }

    @Test("A postmaster.pid that a power loss cut short is cleared away")
    func emptyProcessFile() async throws {
        try await TestFolder.useWithData { folder in
            try "".write(toFile: folder.cluster + "/data/postmaster.pid", atomically: true, encoding: .utf8)
            let url = try await folder.handle().start()
            #expect(try await query(url, "select 1") == "1")
        }
    }

    @Test("A start that fails shows the server's log and leaves nothing locked or running")
    func failedStart() async throws {
        try await TestFolder.useWithData { folder in
            let error = await #expect(throws: EmbeddedPostgresError.self) {
                try await folder.handle(settings: ["no_such_setting": "1"]).start()
            }
            #expect(error?.description.contains("unrecognized configuration parameter \"no_such_setting\"") == true)
            #expect(DataFolder(home: folder.cluster).postmaster == .none)
            _ = try await folder.handle().start()
        }
    }

    private func kill(_ postmaster: pid_t) async throws {
        Foundation.kill(postmaster, SIGKILL)
        try await waitUntilGone(postmaster)
    }
}
