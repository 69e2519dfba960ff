import ConnectionTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import SelfieOperations
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import selfie

@Suite("selfie photos reconcile", .timeLimit(.minutes(3)))
struct ReconcileCommandTests {
    @Test("It reports differences, repairs them, and its exit status says whether any is left")
    func command() async throws {
        try await ServedSelfie.run(store: .s3) { served in
            let service = served.service
            let token = try await service.makeToken()
            let answer = try await service.upload(TestImage.jpeg, token: token)
            let randomID = try #require(answer.json["random_id"] as? String)
            let run = { (arguments: [String]) in
                try await SelfieProcess.run(
                    ["photos", "reconcile"] + arguments,
                    environment: TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
                )
            }
            let clean = try await run([])
            #expect(clean.status == 0)
            #expect(clean.output.hasPrefix("Compared 1 photo with 1 object: the database test_"))

            try await service.objects.write(TestImage.jpeg, key: "evil\u{1B}[31m\nkey")
            try await service.objects.remove(key: randomID)
            let young = try await run(["--dry-run"])
            #expect(young.status == 0, "both are younger than an hour")
            #expect(young.errors.contains("Differences younger than 1h were ignored."))
            // Objects are dated in whole seconds, and by another clock.
            var dry = young
            try await poll("both are old enough") {
                dry = try await run(["--dry-run", "--older-than", "0s"])
                return dry.output.contains("found: photo without an object: \(randomID)")
                    && dry.output.contains("found: object without a photo: evil")
            }
            #expect(dry.status == 1)
            #expect(!dry.output.contains("\u{1B}"))
            #expect(service.objects.keys().count == 1)
            let wet = try await run(["--older-than", "0s"])
            #expect(wet.status == 0)
            #expect(wet.output.contains("row deleted: photo without an object: \(randomID)"))
            #expect(service.objects.keys().isEmpty)
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
            #expect(clean.errors.hasSuffix("Differences younger than 1h were ignored.\n"))
            for outcome in [dry, wet] {
                // It names the place before it changes anything, and has no bar where there is no terminal.
                #expect(outcome.errors.hasPrefix("Comparing the database test_"))
                #expect(outcome.errors.split(separator: "\n").count == 1)
            }
        }
    }

    @Test(
        "However it ends, the table has what was found and repaired",
        arguments: ["403 Forbidden", "503 Slow Down"]
    )
    func table(status: String) async throws {
        let keys = (0..<3).map { "key\($0)" }
        let store = ScriptedServer.Reply.answer { request in
            if request.line.hasPrefix("HEAD") { return .answer("200 OK", ["ETag": "\"a\""], body: "") }
            if request.line.hasPrefix("POST") { return .answer("200 OK", body: "<DeleteResult/>") }
            if request.target.contains("uploads=") { return .failure(status, code: "NotNow") }
            let entries = keys.map { key in
                """
                <Contents><Key>\(key)</Key><Size>1</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>
                """
            }
            return .answer("200 OK", body: "<ListBucketResult>\(entries.joined())</ListBucketResult>")
        }
        try await ServedSelfie.run { served in
            try await ScriptedServer.with([ScriptedServer.Reply](repeating: store, count: 100)) { server in
                var settings = TestService.settings(
                    databaseURL: served.service.databaseURL,
                    objects: served.service.objects
                )
                settings.merge([
                    "S3_BUCKET_NAME": "photos", "AWS_ACCESS_KEY_ID": "AKIDX", "AWS_SECRET_ACCESS_KEY": "s3cr3t/X",
                    "AWS_ENDPOINT_URL_S3": server.endpoint, "OBJECTS_PATH": "",
                ]) { $1 }
                let outcome = try await SelfieProcess.run(["photos", "reconcile"], environment: settings)
                #expect(outcome.status == 1)
                #expect(outcome.output.contains("and the bucket photos at \(server.endpoint).\n"))
                #expect(outcome.output.contains(/Objects without a photo +3 +3 +0/))
                #expect(outcome.errors.contains("NotNow"))
            }
        }
    }

    @Test(
        "An unreachable database or store is reported in one line, and nothing is changed",
        arguments: ["database", "bucket"]
    )
    func outage(missing: String) async throws {
        try await ServedSelfie.run(store: .s3) { served in
            let settings = TestService.settings(
                databaseURL: served.service.databaseURL,
                objects: served.service.objects
            )
            let broken =
                missing == "database"
                ? ["DATABASE_URL": "postgresql://nobody:hidden-password@127.0.0.1:1/none"]
                : ["AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1"]
            let outcome = try await SelfieProcess.run(
                ["photos", "reconcile"],
                environment: settings.merging(broken) { $1 }
            )
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("\nError: "))
            #expect(outcome.errors.split(separator: "\n").count <= 3)
            #expect(!outcome.errors.contains("hidden-password"))
            #expect(!outcome.errors.contains("unavailable("), "a person reads it: \(outcome.errors)")
            #expect(outcome.errors.contains("selfie doctor"))
        }
    }

    @Test(
        "Ages are numbers with a unit",
        arguments: [
            ("0s", 0), ("90s", 90), ("15m", 900), ("2h", 7_200), ("7d", 604_800), ("", nil), ("5", nil), ("h", nil),
            ("-1s", nil), ("1.5h", nil), ("1w", nil), ("99999999999999999999s", nil), ("9223372036854775807d", nil),
        ] as [(String, Int?)]
    )
    func ages(text: String, seconds: Int?) {
        #expect(Age(argument: text)?.seconds == seconds)
    }

    @Test("A bar is full when all is done, and never longer")
    func bar() {
        #expect(
            ProgressBar.line(.init(task: "Copying", done: 0, total: 4)).contains(
                "[\(String(repeating: ".", count: 30))] 0 %"
            )
        )
        #expect(
            ProgressBar.line(.init(task: "Copying", done: 4, total: 4)).contains(
                "[\(String(repeating: "#", count: 30))] 100 %"
            )
        )
        #expect(ProgressBar.line(.init(task: "Copying", done: 0, total: 0)).hasSuffix("100 % (0 of 0)"))
    }
}
