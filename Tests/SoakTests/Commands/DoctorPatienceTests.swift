import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import ProcessTestSupport
import ServiceTestSupport
import Testing

@Suite("selfie doctor, without any answers", .timeLimit(.minutes(5)))
struct DoctorPatienceTests {
    @Test("Stopped stores and databases do not hold it up for more than half a minute")
    func silence() async throws {
        let (store, database) = (try SilentServer(), try SilentServer())
        let address = "postgresql://me:tell-nobody@127.0.0.1:\(database.port)/photos"
        var settings = TestService.settings(databaseURL: address, objects: .disk(URL(filePath: "/")))
        settings["OBJECTS_PATH"] = nil
        settings["S3_BUCKET_NAME"] = "selfies"
        settings["AWS_ACCESS_KEY_ID"] = "access-key"
        settings["AWS_SECRET_ACCESS_KEY"] = "secret-key"
        settings["AWS_ENDPOINT_URL_S3"] = "http://127.0.0.1:\(store.port)"
        let start = ContinuousClock.now
        let outcome = try await SelfieProcess.run(
            ["doctor", "--migrations", ServedSelfie.migrationsPath],
            environment: settings
        )
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(outcome.status == 1)
        let output = outcome.output + outcome.errors
        #expect(output.contains("127.0.0.1:\(store.port)/selfies can't be used: it does not answer in time"))
        #expect(output.contains("Database: it can't be used: "))
        #expect(!output.contains("tell-nobody"))
    }
}
