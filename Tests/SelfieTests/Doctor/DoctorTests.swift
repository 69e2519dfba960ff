import DatabaseTestSupport
import Foundation
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie doctor", .timeLimit(.minutes(5)))
struct DoctorTests {
    @Test("With all well it says so of each thing, and leaves nothing behind in bucket and database")
    func allWell() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await ServedSelfie.withObjects(.s3) { objects in
                let server = try await RcloneServer.shared
                var settings = DoctorRun.settings(databaseURL: databaseURL, objects: objects)
                settings["RENDITIONS_AT_ONCE"] = "1"
                let bucket = try #require(settings["S3_BUCKET_NAME"])
                try await objects.makeBucket()
                let before = try await DatabaseDump.lines(url: databaseURL)
                let run = try await DoctorRun(settings)
                #expect(run.status == 0)
                #expect(run.lines("FAILED").isEmpty && run.lines("WARNING").isEmpty && run.lines("skipped").isEmpty)
                let expected = [
                    "Configuration: all settings that are needed are there",
                    "Configuration: a client's address is that of its connection", "Database: reachable, PostgreSQL 1",
                    "Database: its clock and ours agree", "Database: temporary tables are allowed",
                    "Database: migrated, with \(try TestCluster.migrations().count) migrations",
                    "Database: its tables can be read and changed",
                    "Passwords: all of the last 7 days could be decrypted",
                    "Bucket: keys from the configuration", "Bucket: reachable at \(server.endpoint)/\(bucket)",
                    "Bucket: the store's clock and ours agree",
                    "Bucket: the store accepts the keys, and they may list objects",
                    "Bucket: an object can be put", "Bucket: its size is right", "Bucket: it comes back as it was",
                    "Bucket: a part of it comes back", "Bucket: a signed URL gives it", "Bucket: private:",
                    "Bucket: large photos can be uploaded in parts", "Bucket: it can be deleted",
                    "Temporary folder: files can be written", "Small pictures: selfie-render and libvips make them",
                ]
                for line in expected {
                    #expect(run.lines("ok").contains { $0.hasPrefix("ok       \(line)") }, "\(line)")
                }
                #expect(run.lines.last?.hasPrefix("Nothing failed: ") == true)
                #expect(objects.keys().isEmpty)
                #expect(try await DatabaseDump.lines(url: databaseURL) == before)
            }
        }
    }

    @Test("A folder is checked as a bucket is, and empty afterwards")
    func folder() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TemporaryFolder.with { folder in
                let objects = TestObjects.disk(folder.appending(path: "objects"))
                let settings = DoctorRun.settings(databaseURL: databaseURL, objects: objects)
                let absent = try await DoctorRun(settings)
                #expect(absent.status == 0)
                #expect(absent.text.contains("ok Folder: OBJECTS_PATH does not exist yet"))
                #expect(try folder.names().isEmpty, "looking makes no folder")

                try FileManager.default.createDirectory(
                    at: folder.appending(path: "objects"),
                    withIntermediateDirectories: false,
                    attributes: [.posixPermissions: 0o755]
                )
                let open = try await DoctorRun(settings)
                #expect(open.status == 0)
                #expect(open.text.contains("ok Folder: a file can be written, read and deleted"))
                #expect(open.text.contains("WARNING Folder: every user of this machine can look into it"))
                #expect(open.text.contains("What to do: Run: chmod 700 "))
                #expect(objects.keys().isEmpty)

                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o700],
                    ofItemAtPath: folder.appending(path: "objects").path
                )
                let closed = try await DoctorRun(settings)
                #expect(closed.text.contains("ok Folder: other users of this machine can't look into it"))
            }
        }
    }

    @Test("A file instead of the folder is a failure")
    func fileInPlaceOfFolder() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TemporaryFolder.with { folder in
                let file = folder.appending(path: "objects")
                try Data("mine".utf8).write(to: file)
                let run = try await DoctorRun(DoctorRun.settings(databaseURL: databaseURL, objects: .disk(file)))
                #expect(run.status == 1)
                #expect(run.text.contains("FAILED Folder: OBJECTS_PATH is not a folder"))

                let below = try await DoctorRun(
                    DoctorRun.settings(databaseURL: databaseURL, objects: .disk(file.appending(path: "deeper")))
                )
                #expect(below.status == 1)
                #expect(below.lines("FAILED").contains { $0.contains("Folder: OBJECTS_PATH") })
                #expect(try Data(contentsOf: file) == Data("mine".utf8))
            }
        }
    }

    @Test("A folder for uploads that can't be written is a failure, and one in memory for photos a warning")
    func temporaryFolder() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TemporaryFolder.with { folder in
                let memory = URL(filePath: "/dev/shm/selfie-test-\(UUID().uuidString)")
                try FileManager.default.createDirectory(at: memory, withIntermediateDirectories: false)
                defer { try? FileManager.default.removeItem(at: memory) }
                var settings = DoctorRun.settings(databaseURL: databaseURL, objects: .disk(memory))
                settings["TMPDIR"] = folder.appending(path: "gone").path
                settings["UPLOAD_BYTES_MAX"] = "1073741824"
                let run = try await DoctorRun(settings)
                #expect(run.status == 1)
                #expect(run.text.contains("FAILED Temporary folder: no file can be written in "))
                #expect(run.text.contains("WARNING Folder: it is in memory (tmpfs)"))
            }
        }
    }

    @Test("Each missing key is reported, and checks that depend on it are skipped")
    func missingKeys() async throws {
        try await TemporaryFolder.with { folder in
            let run = try await DoctorRun([:], directory: folder)
            #expect(run.status == 1)
            for key in ["DATABASE_URL", "API_AUTH_NAME", "API_AUTH_PASSWORD", "SECRET_KEY_BASE", "S3_BUCKET_NAME"] {
                #expect(run.lines("FAILED").contains { $0.contains("Configuration: \(key) is missing") }, "\(key)")
            }
            #expect(run.lines("skipped").contains { $0.contains("Database: everything") })
            #expect(run.lines("skipped").contains { $0.contains("Bucket: everything") })
            #expect(run.lines.last?.hasPrefix("Something is wrong: ") == true)
        }
    }

    @Test("A key that is missing does not keep database and folder from being looked at")
    func oneMissingKey() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TemporaryFolder.with { folder in
                var settings = DoctorRun.settings(databaseURL: databaseURL, objects: .disk(folder))
                settings["SECRET_KEY_BASE"] = nil
                let run = try await DoctorRun(settings)
                #expect(run.status == 1)
                #expect(run.lines("FAILED").count == 1)
                #expect(run.text.contains("ok Database: migrated"))
                #expect(run.text.contains("ok Folder: a file can be written"))
            }
        }
    }

    @Test("A .env that can't be read ends it")
    func unreadableFile() async throws {
        try await TemporaryFolder.with { folder in
            try FileManager.default.createDirectory(
                at: folder.appending(path: ".env"),
                withIntermediateDirectories: false
            )
            let run = try await DoctorRun([:], directory: folder)
            #expect(run.status == 1)
            #expect(run.text.contains("The file .env exists but can't be read."))
        }
    }
}
