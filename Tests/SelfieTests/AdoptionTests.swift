import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@Suite("A railsauth database behind selfie", .timeLimit(.minutes(3)))
struct AdoptionTests {
    @Test("Its users sign in, its live token works, its photos list and open", arguments: TestStore.allCases)
    func adoption(store: TestStore) async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await RailsDatabase.make(url: url)
            let outcome = try await TemporaryFolder.with { folder in
                try await SelfieProcess.run(
                    ["migrate", "--migrations", ServedSelfie.migrationsPath],
                    environment: ["DATABASE_URL": url],
                    directory: folder
                )
            }
            #expect(outcome.status == 0, "\(outcome.errors)")
            try await ServedSelfie.withObjects(store) { objects in
                for (number, key) in RailsDatabase.photoIDs.enumerated() {
                    try await objects.write(TestImage.png(bytes: 5000, seed: UInt8(number)), key: key)
                }
                try await objects.write(TestImage.jpeg, key: RailsDatabase.otherPhotoID)
                try await TestCluster.withClient(url) { postgres in
                    let served = try await ServedSelfie.start(databaseURL: url, objects: objects, postgres: postgres)
                    try await passwords(served.service)
                    try await tokens(served.service)
                    try await photos(served.service)
                    try await newWork(served.service)
                }
            }
        }
    }

    private func passwords(_ service: TestService) async throws {
        let ada = try await service.signIn(email: " ADA@example.com", password: RailsDatabase.password)
        #expect(ada.status == 200, "\(ada.text)")
        #expect(ada.json["first_name"] as? String == "Ada")
        #expect(ada.json["email"] as? String == RailsDatabase.email)
        let grace = try await service.signIn(
            email: RailsDatabase.otherEmail.lowercased(),
            password: RailsDatabase.otherPassword
        )
        #expect(grace.status == 200, "\(grace.text)")
        let wrong = try await service.signIn(email: RailsDatabase.email, password: RailsDatabase.otherPassword)
        #expect(wrong.status == 401)
        #expect(wrong.message == "Wrong email or password")
    }

    private func tokens(_ service: TestService) async throws {
        #expect(try await service.list(token: RailsDatabase.liveToken).status == 200)
        let list = try await service.list(token: RailsDatabase.expiredToken)
        #expect(list.status == 401)
        #expect(list.message == "Authtoken has expired. Please get a new token and try again!")
        let upload = try await service.upload(token: RailsDatabase.expiredToken)
        #expect(upload.status == 401)
        #expect(upload.message == "Authtoken has expired")
        #expect(try await service.list(token: "").message == "HTTP Token: Access denied.")
        #expect(try await service.count("SELECT count(*) FROM photos") == 3)
    }

    private func photos(_ service: TestService) async throws {
        let list = try #require(try await service.list(token: RailsDatabase.liveToken).jsonArray)
        #expect(list.map { $0["random_id"] as? String } == RailsDatabase.photoIDs)
        #expect(list.map { $0["title"] as? String } == ["Old photo 1", "Old photo 2"])
        for (number, entry) in list.enumerated() {
            let url = try #require(entry["image_url"] as? String)
            #expect(url.hasPrefix(service.origin))
            var answer = try await service.send("GET", url)
            if let location = answer.headers["location"] { answer = try await service.send("GET", location) }
            #expect(answer.status == 200)
            // A bucket returns the type that was set; railsauth set it, this test did not.
            if case .disk = service.objects { #expect(answer.headers["content-type"] == "image/png") }
            #expect(answer.body == TestImage.png(bytes: 5000, seed: UInt8(number)))
        }
    }

    private func newWork(_ service: TestService) async throws {
        let uploaded = try await service.upload(token: RailsDatabase.liveToken, title: "New")
        #expect(uploaded.status == 200, "\(uploaded.text)")
        let first = RailsDatabase.photoIDs[0]
        let foreign = try await service.delete(RailsDatabase.otherPhotoID, token: RailsDatabase.liveToken)
        #expect(foreign.status == 401)
        #expect(try await service.delete(first, token: RailsDatabase.liveToken).status == 200)
        #expect(service.objects.bytes(key: first) == nil)
        let list = try await service.list(token: RailsDatabase.liveToken).jsonArray
        #expect(list?.map { $0["title"] as? String } == ["Old photo 2", "New"])
        let again = try await service.signUp(email: RailsDatabase.email.uppercased())
        #expect(again.message == "email - has already been taken,")
        #expect(try await service.count("SELECT count(*) FROM users") == 3)
    }
}
