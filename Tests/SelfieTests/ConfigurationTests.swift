import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import ProcessTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The configuration of selfie serve")
struct ConfigurationTests {
    @Test("Every key that is missing is named in one message")
    func missing() async throws {
        try await TemporaryFolder.with { folder in
            let outcome = try await SelfieProcess.run(["serve"], directory: folder)
            #expect(outcome.status != 0)
            for key in [
                "DATABASE_URL", "API_AUTH_NAME", "API_AUTH_PASSWORD", "SECRET_KEY_BASE", "S3_BUCKET_NAME",
                "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
            ] {
                #expect(outcome.errors.contains("\(key) is missing"))
            }
            #expect(outcome.errors.contains("OBJECTS_PATH"))
            #expect(try folder.names().isEmpty)
        }
    }

    @Test("One message names every malformed key, without values")
    func malformed() async throws {
        let values = [
            "DATABASE_URL": "sesame-1", "API_AUTH_NAME": "sesame:2", "API_AUTH_PASSWORD": "sesame-3",
            "SECRET_KEY_BASE": "sesame-4", "S3_BUCKET_NAME": "Sesame_5!", "AWS_ACCESS_KEY_ID": "sesame-6",
            "AWS_SECRET_ACCESS_KEY": "sesame-7", "S3_FORCE_PATH_STYLE": "sesame-8", "PUBLIC_URL": "sesame-9",
            "PORT": "sesame-10", "UPLOAD_BYTES_MAX": "sesame-11", "TOKEN_LIFETIME_HOURS": "sesame-12",
            "PASSWORD_HASH_COST": "sesame-13", "GET_TOKEN_WITHOUT_PASSWORD": "sesame-14", "LOG_LEVEL": "sesame-15",
            "DATABASE_POOL_SIZE": "sesame-16",
        ]
        try await TemporaryFolder.with { folder in
            let outcome = try await SelfieProcess.run(["serve"], environment: values, directory: folder)
            #expect(outcome.status != 0)
            for key in values.keys
            where !["API_AUTH_PASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].contains(key) {
                #expect(outcome.errors.contains("\(key) is malformed: it must be "), "\(key)")
            }
            #expect(!(outcome.errors + outcome.output).lowercased().contains("sesame"))
        }
    }

    @Test("The file .env is read, and the environment wins over it")
    func environmentFile() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TemporaryFolder.with { folder in
                let objects = TestObjects.disk(folder.appending(path: "objects"))
                var values = TestService.settings(databaseURL: databaseURL, objects: objects)
                values["OBJECTS_PATH"] = "objects"
                values["API_AUTH_PASSWORD"] = "of the file"
                values["PORT"] = "no port"
                try folder.writeEnvironment(values)
                try folder.copyMigrations()
                let process = try SelfieProcess(
                    ["serve", "--hostname", "127.0.0.1"],
                    environment: ["API_AUTH_PASSWORD": TestService.apiPassword, "PORT": "0"],
                    directory: folder
                )
                let port = try await process.waitForOutput(#"listening on 127\.0\.0\.1:(\d+)"#)
                try await TestCluster.withClient(databaseURL) { postgres in
                    let service = ServedSelfie.attach(
                        port: Int(port) ?? 0,
                        databaseURL: databaseURL,
                        objects: objects,
                        postgres: postgres
                    )
                    let token = try await service.makeToken()
                    #expect(try await service.upload(token: token).status == 200)
                    #expect(objects.keys().count == 1)
                }
                process.signal(SIGTERM)
                #expect(try await process.waitForExit() == 0)
            }
        }
    }

    @Test("An unreadable .env is reported as such, without its contents")
    func unreadableFile() async throws {
        try await TemporaryFolder.with { folder in
            try FileManager.default.createDirectory(
                at: folder.appending(path: ".env"),
                withIntermediateDirectories: false
            )
            let outcome = try await SelfieProcess.run(["serve"], directory: folder)
            #expect(outcome.status != 0)
            #expect(outcome.errors.contains("The file .env exists but can't be read."))
        }
    }
}
