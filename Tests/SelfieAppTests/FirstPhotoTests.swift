import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("A first photo")
struct FirstPhotoTests {
    @Test("Sign up, sign in, upload, list, open and delete", arguments: TestStore.allCases)
    func firstPhoto(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let token = try await service.makeToken()
            let uploaded = try await service.upload(token: token, title: "Hello")
            #expect(uploaded.status == 200, "\(uploaded.text)")
            let randomID = try #require(uploaded.json["random_id"] as? String)
            #expect(service.objects.keys() == [randomID])
            #expect(service.objects.bytes(key: randomID) == TestImage.jpeg)

            let list = try await service.list(token: token)
            #expect(list.jsonArray?.count == 1)
            let url = try #require(list.jsonArray?.first?["image_url"] as? String)
            var photo = try await service.send("GET", url)
            if store == .s3 {
                #expect(photo.status == 302)
                photo = try await service.send("GET", try #require(photo.headers["location"]))
            }
            #expect(photo.status == 200)
            #expect(photo.body == TestImage.jpeg)

            let deleted = try await service.delete(randomID, token: token)
            #expect(deleted.text == #"{"status":200,"message":"Image deleted"}"#)
            #expect(service.objects.keys().isEmpty)
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
        }
    }
}
