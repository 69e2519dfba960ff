import Foundation
import ServerProcesses
import Testing

@testable import EmbeddedPostgres

@Suite("A private cluster", .timeLimit(.minutes(3)))
struct EmbeddedPostgresTests {
    @Test("A start makes a cluster, over the half of one that was left, that answers over its URL and nowhere else")
    func start() async throws {
        try await TestFolder.use { folder in
            let incomplete = folder.cluster + "/data.incomplete"
            try FileManager.default.createDirectory(atPath: incomplete, withIntermediateDirectories: true)
            try "15\n".write(toFile: incomplete + "/PG_VERSION", atomically: true, encoding: .utf8)
            let user = try ClusterUser.current()
            for path in [folder.cluster, incomplete, incomplete + "/PG_VERSION"] {
                chown(path, user.userID, user.groupID)
            }
            // What would open it to others is not for the caller to set.
            let settings = [
                "max_connections": "37", "listen_addresses": "127.0.0.1", "unix_socket_permissions": "0777",
            ]
            let url = try await folder.handle(settings: settings).start()
            #expect(!FileManager.default.fileExists(atPath: incomplete))
            #expect(url == "postgresql://selfie@\(folder.cluster.replacing("/", with: "%2F")):5432/selfie")
            let answer = try await query(
                url,
                """
                select current_user, current_database(), pg_encoding_to_char(encoding),
                    current_setting('listen_addresses'), current_setting('unix_socket_permissions'),
                    current_setting('max_connections'), current_setting('fsync')
                from pg_database where datname = current_database()
                """
            )
            #expect(answer == "selfie|selfie|UTF8||0700|37|off")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.cluster)
            #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o7777 } == 0o700)
        }
    }

    @Test("A stop leaves no process and no socket, even with a session open, may be repeated, and keeps the data")
    func stop() async throws {
        try await TestFolder.useWithData { folder in
            let handle = folder.handle()
            try await handle.stop()
            let url = try await handle.start()
            let postmaster = try folder.postmaster()
            _ = try await query(url, "create table kept as select 42 as number")
            let session = Task { try await query(url, "select pg_sleep(600)") }
            try await poll("the session is open") {
                try await query(url, "select count(*) from pg_stat_activity where query like '%sleep(600)'") == "1"
            }
            try await handle.stop()
            try await waitUntilGone(postmaster)
            await #expect(throws: EmbeddedPostgresError.self) { try await session.value }
            #expect(!FileManager.default.fileExists(atPath: folder.cluster + "/.s.PGSQL.5432"))
            try await handle.stop()

            #expect(try await handle.start() == url)
            #expect(try await query(url, "select number from kept") == "42")
        }
    }

    @Test("Starting twice keeps the server, at the same time too; another handle is refused until the first stops")
    func startTwice() async throws {
        try await TestFolder.useWithData { folder in
            let first = folder.handle()
            async let one = first.start()
            async let other = first.start()
            #expect(try await one == other)
            let postmaster = try folder.postmaster()
            _ = try await first.start()
            #expect(try folder.postmaster() == postmaster)

            let second = folder.handle()
            let error = await #expect(throws: EmbeddedPostgresError.self) { try await second.start() }
            #expect(error?.description.contains("\(folder.cluster) is in use by another process") == true)
            try await second.stop()
            #expect(isAlive(postmaster))
            try await first.stop()
            _ = try await second.start()
        }
    }

    @Test("A cancelled task still starts and stops whole")
    func cancellation() async throws {
        try await TestFolder.useWithData { folder in
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
        try await TestFolder.useWithData { folder in
            let handle = folder.handle()
            _ = try await handle.start()
            let postmaster = try folder.postmaster()
            #expect(getsid(postmaster) != getsid(0))
            #expect(getpgid(postmaster) != getpgrp())
            let files = try ProcessTable.openFiles(of: postmaster)
            #expect(!files.values.contains(folder.cluster + "/lock"))
            #expect(files[1] == folder.cluster + "/postgres.log")
            #expect(files[2] == folder.cluster + "/postgres.log")
            #expect(try ProcessTable.openFiles().contains(folder.cluster + "/lock"), "there is one to inherit")
            try await handle.stop()
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
}
