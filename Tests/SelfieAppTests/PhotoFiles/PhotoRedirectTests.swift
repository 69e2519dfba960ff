import ConnectionTestSupport
import Foundation
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Redirects to the bucket", .timeLimit(.minutes(2)))
struct PhotoRedirectTests {
    private static let hour: TimeInterval = 3600

    private func location(_ service: TestService, _ photo: UploadedPhoto) async throws -> (url: String, maxAge: Int) {
        let answer = try await service.send("GET", photo.target)
        #expect(answer.status == 302)
        #expect(answer.body.isEmpty)
        let control = try #require(answer.headers["cache-control"])
        let maxAge = try #require(control.wholeMatch(of: /private, max-age=(\d+)/).flatMap { Int($0.1) })
        return (try #require(answer.headers["location"]), maxAge)
    }

    /// When a presigned URL begins and ends.
    private func life(of url: String) throws -> (start: Date, end: Date) {
        let signed = try #require(url.firstMatch(of: /X-Amz-Date=(\d{8}T\d{6}Z)/)?.1)
        let seconds = try #require(url.firstMatch(of: /X-Amz-Expires=(\d+)/).flatMap { TimeInterval($0.1) })
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "yyyyMMdd'T'HHmmss'Z'"
        let start = try #require(formatter.date(from: String(signed)))
        return (start, start + seconds)
    }

    @Test("The bucket gives the photo under the URL that the redirect names, and no other")
    func works() async throws {
        try await TestService.run(store: .s3) { service in
            let photo = try await service.uploadedPhoto()
            let url = try await location(service, photo).url
            #expect(try await service.send("GET", url).body == TestImage.jpeg)
            // It is for this photo only.
            let other = try await service.uploadedPhoto(email: "bob@example.com")
            let forged = url.replacing(photo.randomID, with: other.randomID)
            #expect(try await service.send("GET", forged).status == 403)
        }
    }

    @Test("The URL makes the bucket answer with the photo's type and name", arguments: ["GET", "HEAD"])
    func label(method: String) async throws {
        try await TestService.run(store: .s3) { service in
            let photo = try await service.uploadedPhoto(fileName: "me & you.png")
            let answer = try await service.send(method, photo.target)
            let url = try #require(answer.headers["location"])
            let query = try #require(URLComponents(string: url)?.queryItems)
            let values = Dictionary(query.map { ($0.name, $0.value) }) { $1 }
            #expect(values["response-content-type"] == "image/jpeg")
            #expect(
                values["response-content-disposition"]
                    == "inline; filename=\"me _ you.png.jpg\"; filename*=UTF-8''me%20%26%20you.png.jpg"
            )
            // Both are signed: the bucket takes the URL as it is and no other.
            #expect(try await service.send(method, url).status == 200)
            #expect(try await service.send(method, url.replacing("image%2Fjpeg", with: "text%2Fhtml")).status == 403)
        }
    }

    @Test("It does so for a photo of railsauth's, too, whose type is only in the object", arguments: ["GET", "HEAD"])
    func legacyLabel(method: String) async throws {
        try await TestService.run(store: .s3) { service in
            let photo = try await service.uploadedPhoto()
            try await service.forgetDetails(of: photo)
            let answer = try await service.send(method, photo.target)
            #expect(answer.status == 302)
            let query = URLComponents(string: answer.headers["location"] ?? "")?.queryItems
            #expect(query?.first { $0.name == "response-content-type" }?.value == "image/jpeg")
            try await service.objects.remove(key: photo.randomID)
            try await service.forgetDetails(of: photo)
            #expect(try await service.send(method, photo.target).status == 404)
        }
    }

    @Test("A redirect stays in no cache for longer than the temporary keys live that signed it")
    func temporaryKeys() async throws {
        try await CredentialEndpoint.with(try await RcloneServer.shared, lifetime: 1_800) { endpoint in
            let settings = [
                "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": endpoint.url,
            ]
            try await TestService.run(store: .s3, settings: settings) { service in
                let photo = try await service.uploadedPhoto()
                let (url, maxAge) = try await location(service, photo)
                #expect(url.contains("X-Amz-Security-Token="))
                // With keys that do not end it would be an hour or more. The service's clock stands since it began.
                #expect((1_700..<3_000).contains(maxAge))
                service.clock.advance(by: 1_000)
                let later = try await location(service, photo).maxAge
                #expect(maxAge - later == 1_000)
            }
        }
    }

    @Test("The URL is the same within an hour, and outlives the redirect in a client's cache")
    func stable() async throws {
        try await TestService.run(store: .s3) { service in
            let photo = try await service.uploadedPhoto()
            let present = service.clock.now.timeIntervalSince1970
            let start = ((present / Self.hour).rounded(.down) + 1) * Self.hour
            var urls: [String] = []
            for offset in [1.0, 1800, 3590, 3605] {
                service.clock.advance(by: start + offset - service.clock.now.timeIntervalSince1970)
                let (url, maxAge) = try await location(service, photo)
                let life = try life(of: url)
                #expect(life.start <= service.clock.now)
                #expect(life.end > service.clock.now + TimeInterval(maxAge))
                #expect(maxAge > 3500)
                urls.append(url)
            }
            #expect(Set(urls.prefix(3)).count == 1)
            #expect(urls[3] != urls[0])
        }
    }

    @Test("The URL ends no later than the signature that it was given for")
    func lastHour() async throws {
        try await TestService.run(store: .s3) { service in
            let photo = try await service.uploadedPhoto()
            let expires = try #require(photo.target.firstMatch(of: /expires=(\d+)/).flatMap { TimeInterval($0.1) })
            for left in [7000, 3700, 1800, 90, 30, 5] {
                service.clock.advance(by: expires - TimeInterval(left) - service.clock.now.timeIntervalSince1970)
                let (url, maxAge) = try await location(service, photo)
                let life = try life(of: url)
                #expect(life.end.timeIntervalSince1970 <= expires)
                #expect(life.end > service.clock.now)
                #expect(maxAge <= max(0, left - 60))
                #expect(service.clock.now + TimeInterval(maxAge) < life.end)
            }
        }
    }

    @Test("A range is the bucket's affair")
    func range() async throws {
        try await TestService.run(store: .s3) { service in
            let photo = try await service.uploadedPhoto()
            let url = try await location(service, photo).url
            let answer = try await service.send("GET", photo.target, headers: [("Range", "bytes=99999999-")])
            #expect(answer.status == 302)
            #expect(answer.headers["location"] == url)
            let part = try await service.send("GET", url, headers: [("Range", "bytes=1-3")])
            // The server of the tests answers it with 200.
            #expect(part.body == TestImage.jpeg[1...3])
        }
    }

    @Test("HEAD is redirected to where HEAD works, with the headers that GET has there")
    func head() async throws {
        try await TestService.run(store: .s3) { service in
            let photo = try await service.uploadedPhoto()
            let answer = try await service.send("HEAD", photo.target)
            #expect(answer.status == 302)
            let url = try #require(answer.headers["location"])
            let head = try await service.send("HEAD", url)
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.headers["content-length"] == "\(TestImage.jpeg.count)")
            let get = try await service.send("GET", try await location(service, photo).url)
            #expect(head.headers["content-type"] == get.headers["content-type"])
            #expect(head.headers["etag"] == get.headers["etag"])
        }
    }
}
