import Encodings
import Foundation
import Testing

@testable import EmbeddedPostgres

@Suite("The location of a cluster", .timeLimit(.minutes(3)))
struct ClusterLocationTests {
    @Test("A socket's path of 107 bytes is taken, one of 108 is not")
    func socketPathLimit() {
        func location(bytes: Int) -> ClusterLocation {
            let directory = "/" + String(repeating: "x", count: bytes - 1 - "/.s.PGSQL.5432".utf8.count)
            return ClusterLocation(name: "selfie", directory: directory, temporaryDirectory: "/t", isEnterable: true)
        }
        let maxBytes = ClusterLocation.maxSocketPathBytes
        #if os(Linux)
            #expect(maxBytes == 107)
        #endif
        let fits = location(bytes: maxBytes)
        #expect(fits.socketDirectory == fits.home)
        #expect(fits.notices.isEmpty && !fits.usesShortFolder)
        let exceeds = location(bytes: maxBytes + 1)
        #expect(exceeds.socketDirectory == exceeds.shortFolder)
        #expect(exceeds.home != exceeds.shortFolder)
        #expect(exceeds.notices.count == 1 && exceeds.usesShortFolder)
    }

    @Test(
        "The short folder's name is FNV-1a as published",
        arguments: [
            ("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8"),
        ]
    )
    func stableHash(text: String, hash: String) {
        #expect(ClusterLocation.stableHash(text) == hash)
    }

    @Test("A deep folder gets a short one for its socket, and says so")
    func deepFolder() async throws {
        try await TestFolder.use { folder in
            let deep = folder.path + "/" + String(repeating: "deep/", count: 20) + "cluster"
            try await folder.putData(at: deep)
            let notices = Notices()
            let handle = folder.handle(directory: deep, notice: notices.add)
            let url = try await handle.start()
            #expect(url.contains(PercentEncoding.string(of: folder.temporary + "/selfie-")))
            #expect(try await query(url, "show data_directory") == deep + "/data")
            let said = await notices.all()
            #expect(said.count == 1 && said[0].contains("too long for a Unix socket"))
            try await handle.stop()
        }
    }

    @Test("A folder's name may hold whatever shells, lists and URLs treat in their own way")
    func strangeNames() async throws {
        try await TestFolder.use { folder in
            let strange = folder.path + "/a 'b' \"c\" $HOME `d` %41 ü"
            try await folder.putData(at: strange)
            let url = try await folder.handle(directory: strange).start()
            #expect(url.contains("%2541"))
            #expect(try await query(url, "show data_directory") == strange + "/data")

            let listed = folder.path + "/a,b"
            try await folder.putData(at: listed)
            let listedURL = try await folder.handle(directory: listed).start()
            #expect(try await query(listedURL, "show data_directory") == listed + "/data")
        }
    }

    @Test(
        "A folder behind a closed door is replaced by a temporary one, the same every time",
        .enabled(if: geteuid() == 0, "only root runs PostgreSQL as another user")
    )
    func closedParent() async throws {
        try await TestFolder.use { folder in
            let closed = folder.path + "/closed"
            mkdir(closed, 0o700)
            let asked = ClusterLocation(
                name: "selfie",
                directory: try PrivateFolder.resolve(closed) + "/cluster",
                temporaryDirectory: try PrivateFolder.resolve(folder.temporary),
                isEnterable: false
            )
            try await folder.putData(at: asked.home)
            // As a program would leave it that knows nothing of private folders.
            chown(asked.home, 0, 0)
            chmod(asked.home, 0o755)
            let notices = Notices()
            let handle = folder.handle(directory: closed + "/cluster", notice: notices.add)
            let url = try await handle.start()
            _ = try await query(url, "create table kept as select 42 as number")
            let home = try await query(url, "show data_directory").replacing("/data", with: "")
            #expect(home == asked.home)
            #expect(home.hasPrefix(folder.temporary + "/selfie-"))
            var status = stat()
            #expect(lstat(home, &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o700)
            #expect(status.st_uid == (try ClusterUser.current().userID))
            let said = await notices.all()
            #expect(said.count == 1 && said[0].contains("cannot enter \(closed)/cluster"))
            try await handle.stop()

            #expect(try await query(folder.handle(directory: closed + "/cluster").start(), "table kept") == "42")
        }
    }

    @Test("A link where the short folder belongs is refused")
    func refusedLink() async throws {
        try await TestFolder.use { folder in
            let path = folder.temporary + "/selfie-link"
            let target = folder.temporary + "/target"
            mkdir(target, 0o755)
            symlink(target, path)
            expectRefusal(of: path, reason: "symbolic link")
            let file = folder.temporary + "/selfie-file"
            try "".write(toFile: file, atomically: true, encoding: .utf8)
            expectRefusal(of: file, reason: "not a folder")
        }
    }

    @Test(
        "A short folder that another user made first is refused and left alone",
        .enabled(if: geteuid() == 0, "only root can make a folder of another user's")
    )
    func refusedOwner() async throws {
        try await TestFolder.use { folder in
            let path = folder.temporary + "/selfie-foreign"
            mkdir(path, 0o755)
            chown(path, 65534, 65534)
            expectRefusal(of: path, reason: "belongs to another user (number 65534)")
            var status = stat()
            #expect(lstat(path, &status) == 0)
            #expect(status.st_uid == 65534 && status.st_mode & 0o7777 == 0o755)
        }
    }

    private func expectRefusal(of path: String, reason: String) {
        let error = #expect(throws: EmbeddedPostgresError.self) {
            try PrivateFolder.claim(path, for: try ClusterUser.current())
        }
        #expect(error?.description.contains(reason) == true)
    }
}
