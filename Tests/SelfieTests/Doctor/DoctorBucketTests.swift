import DatabaseTestSupport
import Foundation
import S3TestSupport
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("selfie doctor, bucket", .timeLimit(.minutes(5)))
struct DoctorBucketTests {
    @Test(
        "Keys that the store refuses fail with its code",
        arguments: [
            ("AWS_SECRET_ACCESS_KEY", "wrong-secret-of-somebody", "SignatureDoesNotMatch"),
            ("AWS_ACCESS_KEY_ID", "AKIAUNKNOWNUNKNOWN", "InvalidAccessKeyId"),
        ]
    )
    func wrongKeys(key: String, value: String, code: String) async throws {
        try await withBucket { settings, objects in
            let run = try await DoctorRun(settings.merging([key: value]) { $1 })
            #expect(run.status == 1)
            #expect(run.lines("FAILED").count == 1)
            #expect(run.lines("FAILED").allSatisfy { $0.contains("listing objects failed: ") && $0.contains(code) })
            #expect(run.text.contains("What to do: Set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY"))
            #expect(run.lines("skipped").contains { $0.contains("Bucket: put, get, ranges") })
            #expect(objects.keys().isEmpty)
        }
    }

    @Test("A bucket that anybody can read is warned about in strong words")
    func publicBucket() async throws {
        try await TestCluster.withDatabase { databaseURL in
            let server = try await RcloneServer.start(isPublic: true)
            defer { server.stop() }
            let objects = TestObjects.s3(server)
            try await objects.makeBucket()
            let run = try await DoctorRun(DoctorRun.settings(databaseURL: databaseURL, objects: objects))
            #expect(run.status == 0)
            #expect(
                run.lines("WARNING").contains { $0.contains("PUBLIC: anybody on the internet can list all photos") }
            )
            #expect(run.lines("WARNING").contains { $0.contains("PUBLIC: anybody with a photo's URL") })
            #expect(run.text.contains("docs/stores.md#public-buckets"))
            #expect(!run.text.contains("private:"))
            #expect(objects.keys().isEmpty)
        }
    }

    @Test("A bucket that keeps versions is warned about, and nothing is left in it")
    func versions() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await VersionedBucket.with { bucket in
                let disk = TestObjects.disk(FileManager.default.temporaryDirectory)
                var settings = DoctorRun.settings(databaseURL: databaseURL, objects: disk).merging(bucket.settings) {
                    $1
                }
                settings["OBJECTS_PATH"] = nil
                let run = try await DoctorRun(settings)
                #expect(run.status == 0)
                #expect(run.lines("WARNING").contains { $0.contains("the bucket keeps old versions of its objects") })
                #expect(run.text.contains("selfie photos reconcile --versions"))
                let versions = try await bucket.client.allVersions()
                #expect(versions.isEmpty)
            }
        }
    }

    @Test("A missing bucket is made only when asked to")
    func missingBucket() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await ServedSelfie.withObjects(.s3) { objects in
                let settings = DoctorRun.settings(databaseURL: databaseURL, objects: objects)
                let bucket = try #require(settings["S3_BUCKET_NAME"])
                let folder = try await RcloneServer.shared.directory
                let run = try await DoctorRun(settings)
                #expect(run.status == 0)
                #expect(run.lines("WARNING").contains { $0.contains("there is no bucket \(bucket) yet") })
                #expect(run.text.contains("selfie doctor --make-bucket"))
                #expect(try !folder.names().contains(bucket))

                let making = try await DoctorRun(settings, ["--make-bucket"])
                #expect(making.status == 0)
                #expect(making.text.contains("ok Bucket: made the bucket \(bucket)"))
                #expect(making.lines("WARNING").isEmpty && making.lines("skipped").isEmpty)
                #expect(try folder.names().contains(bucket))
                #expect(objects.keys().isEmpty)
            }
        }
    }

    @Test("A store that is not there fails once, in time, and the rest is skipped")
    func deadPort() async throws {
        try await withBucket { settings, _ in
            let run = try await DoctorRun(settings.merging(["AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1"]) { $1 })
            #expect(run.status == 1)
            #expect(run.lines("FAILED").count == 1)
            #expect(run.lines("FAILED").allSatisfy { $0.hasSuffix("can't be used: nothing listens there") })
            #expect(run.text.contains("correct AWS_ENDPOINT_URL_S3"))
            #expect(run.lines("skipped").count == 1)
        }
    }

    @Test("A store without TLS behind https:// is reported")
    func noTLS() async throws {
        try await withBucket { settings, _ in
            let endpoint = settings["AWS_ENDPOINT_URL_S3", default: ""].replacing("http://", with: "https://")
            let run = try await DoctorRun(settings.merging(["AWS_ENDPOINT_URL_S3": endpoint]) { $1 })
            #expect(run.status == 1)
            let cause = "no encrypted connection can be set up, because the peer does not speak TLS"
            #expect(run.lines("FAILED").contains { $0.hasSuffix(cause) })
            #expect(run.text.contains("https:// in AWS_ENDPOINT_URL_S3"))
        }
    }

    @Test("An unknown host is reported, with the path style if the bucket is part of it")
    func unknownHost() async throws {
        try await withBucket { settings, _ in
            let run = try await DoctorRun(settings.merging(["AWS_ENDPOINT_URL_S3": "http://store.invalid"]) { $1 })
            #expect(run.status == 1)
            let url = "http://\(settings["S3_BUCKET_NAME", default: ""]).store.invalid/"
            #expect(run.lines("FAILED").contains { $0.contains("\(url) can't be used: there is no such host") })
            #expect(run.text.contains("S3_FORCE_PATH_STYLE=true"))
        }
    }

    /// Runs a body with the settings of a migrated database and of a bucket that is there.
    private func withBucket(_ body: ([String: String], TestObjects) async throws -> Void) async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await ServedSelfie.withObjects(.s3) { objects in
                let settings = DoctorRun.settings(databaseURL: databaseURL, objects: objects)
                try await objects.makeBucket()
                try await body(settings, objects)
            }
        }
    }
}
