import ConnectionTestSupport
import Foundation
import ImageFiles
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Metadata in uploads")
struct PhotoMetadataTests {
    @Test("It is in no object, no answer and no row; the orientation stays", arguments: TestDelivery.direct)
    func stripped(delivery: TestDelivery) async throws {
        try await TestService.run(store: delivery.store, settings: delivery.settings) { service in
            let token = try await service.makeToken()
            let answer = try await service.upload(PlantedImage.jpeg, token: token)
            let randomID = try #require(answer.json["random_id"] as? String)
            let stored = try #require(service.objects.bytes(key: randomID))
            #expect(stored.count > TestImage.jpeg.count && stored.count < TestImage.jpeg.count + 50)
            #expect(stored.firstRange(of: Data(PlantedImage.marker.utf8)) == nil)
            #expect(stored.firstRange(of: Data([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6])) != nil)
            #expect(answer.json["byte_count"] as? Int == stored.count)
            #expect(answer.json["width"] as? Int == 480)
            let url = try #require(answer.json["image_url"] as? String)
            let served = try await service.send("GET", service.target(of: url))
            #expect(served.body == stored && served.headers["content-length"] == "\(stored.count)")
            // What was stripped is the same when it is uploaded again.
            let again = try await service.upload(stored, token: token)
            let isSame = service.objects.bytes(key: try #require(again.json["random_id"] as? String)) == stored
            #expect(isSame)
            #expect(!service.log.text.contains(PlantedImage.marker))
            let rows = try await service.postgres.read("SELECT photos::text AS row FROM photos")
            #expect(try rows.allSatisfy { try !$0.decode("row", as: String.self).contains(PlantedImage.marker) })
        }
    }

    @Test("With PHOTO_METADATA=keep, photos are stored as they were sent")
    func kept() async throws {
        try await TestService.run(settings: ["PHOTO_METADATA": "keep"]) { service in
            let token = try await service.makeToken()
            let answer = try await service.upload(PlantedImage.jpeg, token: token)
            let isSame =
                service.objects.bytes(key: try #require(answer.json["random_id"] as? String)) == PlantedImage.jpeg
            #expect(isSame)
        }
    }

    @Test("Each sample is stored with the same format and size, and is not changed again")
    func samples() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for (name, bytes) in try TestImage.samples() {
                let first = try await service.upload(bytes, token: token, title: name)
                let randomID = try #require(first.json["random_id"] as? String, "\(name): \(first.text)")
                let stored = try #require(service.objects.bytes(key: randomID))
                let second = try await service.upload(stored, token: token, title: name)
                for key in ["byte_count", "width", "height"] {
                    #expect(first.json[key] as? Int == second.json[key] as? Int, "\(name)")
                }
                let isSame = service.objects.bytes(key: second.json["random_id"] as? String ?? "") == stored
                #expect(isSame, "\(name)")
            }
        }
    }

    @Test("A photo whose metadata can't be removed is refused whole")
    func refused() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            // A second frame, behind which decoders disagree.
            let frame = PlantedImage.segment(0xC0, Data([8, 0, 1, 0, 1, 1, 1, 0x11, 0]))
            let broken = TestImage.jpeg.prefix(2) + frame + TestImage.jpeg.dropFirst(2)
            let answer = try await service.upload(broken, token: token)
            #expect(answer.status == 415 && answer.code == "photo_format_unknown", "\(answer.text)")
            #expect(service.objects.keys().isEmpty)
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
        }
    }
}
