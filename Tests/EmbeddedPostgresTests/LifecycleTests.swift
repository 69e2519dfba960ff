import Foundation
import Testing

@testable import EmbeddedPostgres

@Suite("A private cluster", .timeLimit(.minutes(3)))
struct LifecycleTests {
    @Test("A start makes a cluster that answers over its URL and nowhere else")
    func start() async throws {
        try await TestFolder.use { folder in
            let url = try await folder.handle(settings: ["max_connections": "37"]).start()
            #expect(url == "postgresql://selfie@\(folder.cluster.replacing("/", with: "%2F")):5432/selfie")
            let answer = try await query(
                url,
                """
                select current_user, current_database(), pg_encoding_to_char(encoding),
                    current_setting('listen_addresses'), current_setting('unix_socket_permissions'),
                    current_setting('max_connections')
                from pg_database where datname = current_database()
                """
            )
            #expect(answer == "selfie|selfie|UTF8||0700|37")
            #expect(try await query(url, "select current_setting('fsync')") == "off")
        }
    }

    @Test("Data survives a stop and a start")
    func restart() async throws {
        try await TestFolder.use { folder in
            let handle = folder.handle()
            let url = try await handle.start()
            _ = try await query(url, "create table kept as select 42 as number")
            try await handle.stop()
            #expect(try await handle.start() == url)
            #expect(try await query(url, "select number from kept") == "42")
        }
    }

    @Test("A stop leaves no process and no socket, even with a session open, and may be repeated")
    func stop() async throws {
        try await TestFolder.use { folder in
            let handle = folder.handle()
            try await handle.stop()
            let url = try await handle.start()
            let postmaster = try folder.postmaster()
            let session = Task { try await query(url, "select pg_sleep(600)") }
            try await poll("the session is open") {
                try await query(url, "select count(*) from pg_stat_activity where query like '%sleep(600)'") == "1"
            }
            try await handle.stop()
            try await waitUntilGone(postmaster)
            await #expect(throws: EmbeddedPostgresError.self) { try await session.value }
            #expect(!FileManager.default.fileExists(atPath: folder.cluster + "/.s.PGSQL.5432"))
            try await handle.stop()
        }
    }

    @Test("Starting twice keeps the server, at the same time too")
    func startTwice() async throws {
        try await TestFolder.use { folder in
            let handle = folder.handle()
            async let one = handle.start()
            async let other = handle.start()
            #expect(try await one == other)
            let postmaster = try folder.postmaster()
            _ = try await handle.start()
            #expect(try folder.postmaster() == postmaster)
        }
    }

    @Test("A cancelled task still starts and stops whole")
    func cancellation() async throws {
        try await TestFolder.use { folder in
            let handle = folder.handle()
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await handle.start()
                let postmaster = try folder.postmaster()
                try await handle.stop()
                return postmaster
            }
            let postmaster = try await task.value
            try await waitUntilGone(postmaster)
        }
    }

    @Test("The server is out of reach of the terminal and inherits none of our files")
    func detachment() async throws {
        try await TestFolder.use { folder in
            _ = try await folder.handle().start()
            let postmaster = try folder.postmaster()
            #expect(getsid(postmaster) != getsid(0))
            #expect(getpgid(postmaster) != getpgrp())
            let descriptors = "/proc/\(postmaster)/fd"
            for name in try FileManager.default.contentsOfDirectory(atPath: descriptors) {
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: descriptors + "/" + name)
                #expect(target != folder.cluster + "/lock")
                if name == "1" || name == "2" { #expect(target == folder.cluster + "/postgres.log") }
            }
        }
    }

    @Test("A program gets a session of its own and none of our variables")
    func environment() async throws {
        let command = Command(user: try ClusterUser.current())
        let names = try await command.succeed("env", []).split(separator: "\n").map { $0.prefix { $0 != "=" } }
        #expect(Set(names) == ["PATH", "LANG", "LC_ALL", "TZ", "HOME", "PGCONNECT_TIMEOUT"])
        let session = try await command.succeed("cut", ["-d", " ", "-f", "6", "/proc/self/stat"])
        #expect(session != "\(getsid(0))")
        #expect(try await command.succeed("cat", []) == "")
    }

    @Test("A second handle is refused until the first one has stopped")
    func secondHandle() async throws {
        try await TestFolder.use { folder in
            let first = folder.handle()
            let second = folder.handle()
            _ = try await first.start()
            let error = await #expect(throws: EmbeddedPostgresError.self) { try await second.start() }
            guard case .alreadyInUse(folder.cluster) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try await second.stop()
            #expect(isAlive(try folder.postmaster()))
            try await first.stop()
            _ = try await second.start()
        }
    }
}
