import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("Photos in memory")
struct PhotoTests {
    private func client() async throws -> (InMemoryService, Selfie) {
        let service = try TestSchema.service()
        return (service, try await service.makeClient(signedInAs: "ada@example.com"))
    }

    @Test("An uploaded photo is listed with its facts, and its bytes are those that were sent")
    func upload() async throws {
        let (service, selfie) = try await client()
        let photo = try await selfie.photos.upload(.data(TestPhoto.png), title: "Grüße \r\n \"hier\"", name: "a\"b.png")
        #expect(photo.title == "Grüße \r\n \"hier\"" && photo.name == "a\"b.png" && photo.contentType == "image/png")
        #expect(photo.width == 3 && photo.height == 2 && photo.byteCount == TestPhoto.png.count)
        #expect(photo.id.count >= 41 && photo.link.id == photo.id)
        #expect(service.bytes(of: photo.id) == TestPhoto.png)
        #expect(try await selfie.photos.list() == [photo])
        for size in PictureSize.allCases {
            #expect(try await selfie.photos.data(of: photo.link, size: size) == TestPhoto.png)
        }
    }

    @Test("Without a renderer, a small picture is the photo itself, which may be kept for a minute")
    func smallPictures() async throws {
        let (service, selfie) = try await client()
        let caller = try await ServiceCaller(service, as: "ada@example.com")
        let photo = try await selfie.photos.upload(.data(TestPhoto.png), title: "x")
        let list = try await caller.send("GET", "get_photos").json
        guard case .array(let photos) = list, let text = photos.first?["image_url"]?.text else {
            Issue.record("There is no photo.")
            return
        }
        func load(_ more: String, headers: [String: String] = [:]) async throws -> ServiceCaller.Answer {
            let request = TransportRequest(method: "GET", url: try #require(URL(string: text + more)), headers: headers)
            return ServiceCaller.Answer(response: try await service.send(request, progress: nil))
        }
        for (more, seconds) in ["": 86_400, "&size=small": 60, "&size=medium": 60] {
            let answer = try await load(more)
            #expect(answer.status == 200 && answer.response.body == TestPhoto.png)
            #expect(answer.response.headers["cache-control"] == "private, max-age=\(seconds)")
            let tag = try #require(answer.response.headers["etag"])
            let again = try await load(more, headers: ["If-None-Match": tag])
            #expect(again.status == 304 && again.response.body.isEmpty)
            #expect(again.response.headers["cache-control"] == answer.response.headers["cache-control"])
        }
        #expect(
            try await load("&size=large").refusal == "400 size_invalid: size - is invalid (small or medium),"
        )
        #expect(
            try await load("x").refusal
                == "403 photo_url_invalid: The photo's address is invalid or has expired"
        )
        try await selfie.photos.delete(photo.id)
        #expect(try await load("").refusal == "404 photo_not_found: There is no such photo")
    }

    @Test("What stands in for a small picture is not kept as one")
    func standIn() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        let photo = try await selfie.photos.upload(.data(TestPhoto.png), title: "x")
        func loads(_ size: PictureSize) async throws -> Int {
            let before = service.receivedCalls.count
            for _ in 0..<3 { _ = try await selfie.photos.data(of: photo.link, size: size) }
            return service.receivedCalls.count - before
        }
        #expect(try await loads(.small) == 3)
        #expect(try await loads(.original) == 1)
    }

    @Test("Pieces of a photo and a photo that looks like a form arrive whole")
    func pieces() async throws {
        let (service, selfie) = try await client()
        let tricky = TestPhoto.jpeg("\r\n--\r\n\r\n--selfie-\r\n\r\n")
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        for byte in tricky { continuation.yield(Data([byte])) }
        continuation.finish()
        let photo = try await selfie.photos.upload(.pieces(of: stream), title: "")
        #expect(service.bytes(of: photo.id) == tricky && photo.title.isEmpty)
    }

    @Test("What is no photo is refused")
    func refusal() async throws {
        let (_, selfie) = try await client()
        do {
            try await selfie.photos.upload(.data(Data("Hello".utf8)), title: "x")
            Issue.record("It was taken.")
        } catch SelfieError.notAPhoto(let refusal) {
            #expect(refusal.status == 415)
        }
        await #expect(throws: SelfieError.self) { try await selfie.photos.upload(.data(Data()), title: "x") }
        #expect(try await selfie.photos.list().isEmpty)
    }

    @Test("A photo's file that can't be read has an error of its own, and nothing is sent or kept")
    func unreadable() async throws {
        let (service, selfie) = try await client()
        let folder = FileManager.default.temporaryDirectory
        for file in [folder.appendingPathComponent("selfie-none-\(UUID().uuidString)"), folder] {
            await #expect(throws: SelfieError.photoUnreadable) {
                try await selfie.photos.upload(.file(file), title: "x")
            }
            await #expect(throws: SelfieError.photoUnreadable) {
                try await selfie.outbox.upload(.file(file), title: "x")
            }
        }
        #expect(SelfieError.photoUnreadable.localizedDescription == "The photo's file can't be read.")
        #expect(!SelfieError.photoUnreadable.isTransient)
        #expect(await selfie.outbox.items.isEmpty)
        #expect(!service.receivedCalls.contains { $0.path == "/api/upload_photo" })
    }

    @Test("An upload whose answer is lost is there once")
    func lostAnswer() async throws {
        let (service, selfie) = try await client()
        service.loseNextAnswer(to: "upload_photo")
        let photo = try await selfie.photos.upload(.data(TestPhoto.png), title: "x")
        #expect(try await selfie.photos.list() == [photo])
        let statuses = service.receivedCalls.filter { $0.path == "/api/upload_photo" }.map(\.status)
        #expect(statuses == [nil, 200])
    }

    @Test("A list that has not changed is not sent again, and each user has one")
    func entityTag() async throws {
        let (service, selfie) = try await client()
        let photo = try await selfie.photos.upload(.data(TestPhoto.png), title: "1")
        #expect(try await selfie.photos.list() == [photo])
        #expect(try await selfie.photos.list() == [photo])
        #expect(service.receivedCalls.last?.status == 304)
        let second = try await selfie.photos.upload(.data(TestPhoto.jpeg("2")), title: "2")
        #expect(try await selfie.photos.list() == [photo, second])
        #expect(service.receivedCalls.last?.status == 200)
        #expect(try await selfie.photos.list(.newestFirst) == [second, photo])
        try await selfie.photos.delete(photo.id)
        #expect(try await selfie.photos.list() == [second])
        try await selfie.photos.delete(photo.id)
        let bob = try await service.makeClient(signedInAs: "bob@example.com")
        #expect(try await bob.photos.list().isEmpty)
        try await bob.photos.delete(second.id)
        #expect(service.bytes(of: second.id) != nil)
    }

    @Test("Pages follow each other in both orders")
    func pages() async throws {
        let (_, selfie) = try await client()
        var ids: [String] = []
        for number in 1...5 {
            ids.append(try await selfie.photos.upload(.data(TestPhoto.jpeg("\(number)")), title: "\(number)").id)
        }
        let first = try await selfie.photos.page(limit: 2)
        #expect(first.map(\.id) == [ids[4], ids[3]])
        let second = try await selfie.photos.page(after: first.last?.id, limit: 2)
        #expect(second.map(\.id) == [ids[2], ids[1]])
        #expect(try await selfie.photos.page(after: second.last?.id, limit: 2).map(\.id) == [ids[0]])
        #expect(try await selfie.photos.page(after: ids[0], limit: 2).isEmpty)
        #expect(try await selfie.photos.page(.oldestFirst, after: ids[2], limit: 500).map(\.id) == [ids[3], ids[4]])
        await #expect(throws: SelfieError.self) { try await selfie.photos.page(limit: 501) }
    }

    @Test("A URL that has ended is renewed, and the picture is loaded once")
    func renewal() async throws {
        let (service, selfie) = try await client()
        let photo = try await selfie.photos.upload(.data(TestPhoto.png), title: "x")
        service.endPhotoURLs()
        #expect(try await selfie.photos.data(of: photo.link) == TestPhoto.png)
        let loads = service.receivedCalls.suffix(3)
        #expect(loads.map(\.status) == [403, 200, 200])
        #expect(loads.map(\.path) == ["/photos/\(photo.id)", "/api/get_photos", "/photos/\(photo.id)"])
        let count = service.receivedCalls.count
        #expect(try await selfie.photos.data(of: photo.link) == TestPhoto.png)
        #expect(service.receivedCalls.count == count)
    }

    @Test("A URL that has ended is asked for once, also after its successors have ended")
    func renewedAgain() async throws {
        let (service, selfie) = try await client()
        let photo = try await selfie.photos.upload(.data(TestPhoto.png), title: "x")
        /// The statuses of the calls that load a picture; each size is kept on the device by itself.
        func statuses(_ size: PictureSize) async throws -> [Int?] {
            let count = service.receivedCalls.count
            #expect(try await selfie.photos.data(of: photo.link, size: size) == TestPhoto.png)
            return service.receivedCalls[count...].map(\.status)
        }
        service.endPhotoURLs()
        #expect(try await statuses(.original) == [403, 200, 200])
        service.endPhotoURLs()
        #expect(try await statuses(.small) == [403, 200, 200])
        #expect(try await statuses(.medium) == [200])
    }

    @Test("The link of an upload that is not listed can't be renewed, and the error says what to do")
    func unlisted() async throws {
        let (service, selfie) = try await client()
        let photo = try await selfie.photos.upload(.data(TestPhoto.png), title: "x", isListed: false)
        let message = Message(threadId: "t", text: "Look", picture: photo.id)
        try await selfie.records(ChatThread.self).create(ChatThread(name: "T"), id: "t")
        try await selfie.records(Message.self).create(message, id: "m")
        service.endPhotoURLs()
        do {
            _ = try await selfie.photos.data(of: photo.link)
            Issue.record("It was loaded.")
        } catch SelfieError.notFound(let refusal) {
            #expect(refusal.code == "photo_not_found" && refusal.message.contains("take the link from the record"))
        }
        let link = try #require(try await selfie.records(Message.self).record("m").photo("picture"))
        #expect(try await selfie.photos.data(of: link) == TestPhoto.png)
    }

    @Test("URLs of records, members and profiles are renewed at their own place, as long as the user may see them")
    func otherRenewals() async throws {
        let (service, ada) = try await client()
        let bob = try await service.makeClient(signedInAs: "bob@example.com")
        let (adaID, bobID) = (try #require(try ada.userID), try #require(try bob.userID))
        let picture = try await ada.photos.upload(.data(TestPhoto.png), title: "me")
        let profile = try await ada.updateProfile(ProfileChange(picture: picture.id))
        let member = try await bob.member(adaID)
        let shared = try await ada.photos.upload(.data(TestPhoto.jpeg("shared")), title: "x", isListed: false)
        try await ada.records(ChatThread.self).create(ChatThread(name: "T"), id: "t", readers: [bobID])
        let message = Message(threadId: "t", text: "Look", picture: shared.id)
        try await ada.records(Message.self).create(message, id: "m", readers: [bobID])
        let link = try #require(try await bob.records(Message.self).record("m").photo("picture"))
        service.endPhotoURLs()
        #expect(try await ada.photos.data(of: try #require(profile.picture)) == TestPhoto.png)
        #expect(try await bob.photos.data(of: try #require(member.picture)) == TestPhoto.png)
        #expect(try await bob.photos.data(of: link) == TestPhoto.jpeg("shared"))
        #expect(try await ada.photos.list() == [try #require(try await ada.photos.list().first)])
        var other = message
        other.picture = try await ada.photos.upload(.data(TestPhoto.jpeg("other")), title: "x", isListed: true).id
        try await ada.records(Message.self).save(other, id: "m")
        // Not on the device: pictures are kept by size.
        await #expect(throws: SelfieError.self) { try await bob.photos.data(of: link, size: .medium) }
        #expect(service.receivedCalls.last?.status == 404)
        #expect(service.bytes(of: shared.id) == nil)
        let next = try #require(try await bob.records(Message.self).record("m").photo("picture"))
        #expect(try await bob.photos.data(of: next) == TestPhoto.jpeg("other"))
        try await ada.records(Message.self).save(other, id: "m", readers: [])
        await #expect(throws: SelfieError.self) { try await bob.photos.data(of: next, size: .small) }
        #expect(service.receivedCalls.suffix(2).map(\.status) == [403, 404])
        try await ada.records(Message.self).delete("m")
        #expect(service.bytes(of: next.id) != nil)
    }
}
