import ConnectionTestSupport
import Curl
import Foundation
import Logging
import NIOHTTP1
import Postgres
import S3TestSupport
import SelfieOperations
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import ObjectStore
@testable import S3
@testable import SelfieApp
@testable import SelfieConfiguration

/// What puts leave behind that were never finished.
extension ReconcileTests {
    @Test("What crashed puts left behind is removed once it is old, and not before")
    func unfinishedFiles() async throws {
        try await TestService.run(adjust: { $0.worksInBackground = false }) { service in
            guard case .disk(let folder) = service.objects else { throw NotInTime(what: "a folder") }
            try await Self.upload(1, to: service, token: try await service.makeToken())
            for (name, age) in [("old", 81), ("young", 0)] {
                let file = folder.appending(path: ".incoming/\(name)")
                try Data("half".utf8).write(to: file)
                let date = Date(timeIntervalSinceNow: -Double(age))
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
            }
            #expect(try await Self.reconcile(service, repairs: false).findings == ["unfinishedPut old false"])
            let names = { try FileManager.default.contentsOfDirectory(atPath: folder.path + "/.incoming").sorted() }
            #expect(try names() == ["old", "young"])
            #expect(try await Self.reconcile(service, repairs: true).report.isClean)
            #expect(try names() == ["young"])
        }
    }

    @Test("Parts that a crashed upload left in the bucket are removed once they are old, and not before")
    func unfinishedUploads() async throws {
        try await TestService.run(store: .s3) { service in
            // Makes the bucket.
            try await Self.upload(1, to: service, token: try await service.makeToken())
            try await service.beginUpload(key: "left")
            #expect(try await Self.reconcile(service, repairs: true).findings.isEmpty, "it may go on")
            let later: TimeInterval = 82
            // A photo of that name is being stored, whatever the store's clock or ours says.
            try await service.postgres.write(
                """
                INSERT INTO photos (user_id, name, title, random_id, state)
                SELECT user_id, 'n', 't', 'left', 'pending' FROM photos
                """
            )
            #expect(try await Self.reconcile(service, repairs: true, secondsLater: later).findings.isEmpty)
            try await service.postgres.write("DELETE FROM photos WHERE random_id = 'left'")
            let dry = try await Self.reconcile(service, repairs: false, secondsLater: later)
            #expect(dry.findings == ["unfinishedPut left false"])
            let wet = try await Self.reconcile(service, repairs: true, secondsLater: later)
            #expect(wet.findings == ["unfinishedPut left true"])
            #expect(try await Self.reconcile(service, repairs: false, secondsLater: later).findings.isEmpty)
        }
    }

    /// A store without objects, and with one unfinished upload that it lists and aborts in different spellings.
    private static func store(listing key: String, aborting path: String?) -> [ScriptedServer.Reply] {
        let uploads = """
            <ListMultipartUploadsResult>\(key)<Upload><Key>odd%2Bkey</Key><UploadId>u</UploadId>\
            <Initiated>2026-01-01T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>
            """
        let reply = ScriptedServer.Reply.answer { request in
            if request.line.hasPrefix("DELETE") {
                let isThere = path.map { request.target.hasPrefix("/photos/\($0)?") } ?? false
                return isThere ? .answer("204 No Content") : .failure("404 Not Found", code: "NoSuchUpload")
            }
            return .answer("200 OK", body: request.target.contains("uploads=") ? uploads : "<ListBucketResult/>")
        }
        return [ScriptedServer.Reply](repeating: reply, count: 100)
    }

    @Test(
        "An upload is aborted in the spelling that its store knows; one that is not found is not repaired",
        arguments: [
            // Ceph encodes without saying so.
            ("", "odd%2Bkey", "odd%2Bkey", true), ("", "odd%252Bkey", "odd%2Bkey", true),
            // LocalStack says so, and does not.
            ("<EncodingType>url</EncodingType>", "odd%252Bkey", "odd+key", true),
            ("<EncodingType>url</EncodingType>", "odd%2Bkey", "odd+key", true),
            ("", nil, "odd%2Bkey", false), ("<EncodingType>url</EncodingType>", nil, "odd+key", false),
        ] as [(String, String?, String, Bool)]
    )
    func spelling(encoding: String, path: String?, key: String, isRepaired: Bool) async throws {
        try await TestService.run { service in
            try await ScriptedServer.with(Self.store(listing: encoding, aborting: path)) { server in
                let settings = [
                    "S3_BUCKET_NAME": "photos", "AWS_ACCESS_KEY_ID": "AKIDX", "AWS_SECRET_ACCESS_KEY": "s3cr3t/X",
                    "AWS_ENDPOINT_URL_S3": server.endpoint, "OBJECTS_PATH": "",
                ]
                let (report, findings) = try await Self.reconcile(service, repairs: true, settings: settings)
                #expect(findings == ["unfinishedPut \(key) \(isRepaired)"])
                #expect(report.isClean == isRepaired)
            }
        }
    }
}

extension TestService {
    /// Begins an upload in parts to the bucket, and leaves it.
    fileprivate func beginUpload(key: String) async throws {
        let values = Self.settings(databaseURL: databaseURL, objects: objects)
        guard case .s3(let bucket) = try ServiceConfiguration(from: ConfigurationSource(values: values)).objectStorage
        else { throw NotInTime(what: "a bucket") }
        let logger = log.logger(level: .error)
        let store = try await bucket.open(curl: .shared, now: { Date() }, logger: logger)
        let request = S3Request(method: .POST, key: key, query: [QueryItem("uploads")])
        _ = try await store.client.document(
            request,
            root: "InitiateMultipartUpload",
            by: Deadline(in: S3Deadlines.patient.call)
        )
    }
}
