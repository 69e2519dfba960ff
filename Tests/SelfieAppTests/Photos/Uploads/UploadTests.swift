import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

private let photo = TestImage.png(bytes: 64)
private let notPhoto = "image - is not a JPEG, PNG, GIF, WebP, HEIC or AVIF photo,"
private let boundary = "upload-boundary"

/// A file part, or a text part without a file name.
private struct Part {
    let name: String
    var fileName: String?
    let bytes: Data

    static func image(_ bytes: Data = photo, fileName: String? = "photo") -> Part {
        Part(name: "image", fileName: fileName, bytes: bytes)
    }

    static func title(_ text: String) -> Part { Part(name: "title", bytes: Data(text.utf8)) }
}

private func payload(_ parts: [Part]) -> Scenario.Payload {
    var body = Data()
    for part in parts {
        let fileName = part.fileName.map { "; filename=\"\($0)\"" } ?? ""
        body += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(part.name)\"\(fileName)\r\n".utf8)
        body += Data("Content-Type: image/jpeg\r\n\r\n".utf8) + part.bytes + Data("\r\n".utf8)
    }
    body += Data("--\(boundary)--\r\n".utf8)
    return .raw(contentType: "multipart/form-data; boundary=\(boundary)", body)
}

private func upload(
    _ name: String,
    _ parts: [Part],
    query: String = "",
    token: String,
    status: Int = 200,
    message: String? = nil
) -> Scenario {
    Scenario(
        name,
        "POST /api/upload_photo\(query)",
        authorization: tokenHeader(token),
        payload(parts),
        status: status,
        message: message
    )
}

@Suite("Uploads")
struct UploadTests {
    @Test("An upload without a whole photo or a title is refused, and leaves no row and no object")
    func refusals() async throws {
        try await TestService.run(settings: ["UPLOAD_BYTES_MAX": "4096"]) { service in
            let token = try await service.makeToken()
            let title = Part.title("My selfie")
            let (blank, missing) = ("image - can't be blank,", Refusal.missing)
            let tooLarge = "The request is too large (maximum is 4096 bytes)"
            let longText = "The request is too large (maximum is 16384 bytes)"
            let longName = String(repeating: "n", count: 17_000)
            let long = String(repeating: "ü", count: 256)
            let script = Data("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)
            let refusals: [(String, [Part], Int, String)] = [
                ("nothing", [], 400, missing), ("no title", [.image()], 400, missing),
                ("no image", [title], 400, missing),
                ("image as text", [title, .image(fileName: nil)], 400, missing),
                ("large image as text", [title, .image(TestImage.png(bytes: 40_000), fileName: nil)], 400, missing),
                ("title of many bytes", [.title(String(repeating: "a", count: 40_000)), .image()], 413, longText),
                ("a part's header of many bytes", [title, .image(fileName: longName)], 413, longText),
                ("no file chosen", [title, .image(Data(), fileName: "")], 400, missing),
                ("no file chosen, with bytes", [title, .image(fileName: "")], 400, missing),
                ("title as file", [.image(), Part(name: "title", fileName: "t", bytes: photo)], 400, missing),
                ("a file, then a text", [title, .image(), .image(fileName: nil)], 400, missing),
                ("another name", [title, Part(name: "photo", fileName: "photo", bytes: photo)], 400, missing),
                ("empty", [title, .image(Data())], 400, blank),
                ("a photo, then an empty one", [title, .image(), .image(Data())], 400, blank),
                ("a text file", [title, .image(Data("not a photo".utf8))], 415, notPhoto),
                ("a script", [title, .image(script, fileName: "a.png")], 415, notPhoto),
                ("one byte", [title, .image(Data([0xFF]))], 415, notPhoto),
                ("a photo, then a text file", [title, .image(), .image(Data("no".utf8))], 415, notPhoto),
                ("too large by one byte", [title, .image(TestImage.png(bytes: 4097))], 413, tooLarge),
                ("too large by far", [title, .image(TestImage.png(bytes: 600_000))], 413, tooLarge),
                ("too large, then right", [.image(TestImage.png(bytes: 4097)), .image(), title], 413, tooLarge),
                ("long title", [.title(long), .image()], 400, "title - is too long (maximum is 255 characters),"),
                ("NUL in the title", [.title("a\0b"), .image()], 400, "title - is invalid,"),
                ("a notifier in the title", [.title("a\u{07}b"), .image()], 400, "title - is invalid,"),
                ("an escape in the title", [.title("a\u{1B}b"), .image()], 400, "title - is invalid,"),
                ("DEL in the name", [title, .image(fileName: "a\u{7F}b")], 400, "name - is invalid,"),
                ("C1 in the name", [title, .image(fileName: "a\u{9B}b")], 400, "name - is invalid,"),
                ("long name", [title, .image(fileName: long)], 400, "name - is too long (maximum is 255 characters),"),
                (
                    "title that is not UTF-8", [Part(name: "title", bytes: Data([0xFF])), .image()], 400,
                    "The request's parameters are malformed"
                ),
            ]
            for (name, parts, status, message) in refusals {
                try await service.check(
                    upload(name, parts, token: token, status: status, message: message)
                )
            }
            let (contentType, body) = try #require(payload([title, .image()]).encoded)
            try await service.check(
                Scenario(
                    "many bytes in front of the first part",
                    "POST /api/upload_photo",
                    authorization: tokenHeader(token),
                    .raw(contentType: contentType, Data(repeating: 0x20, count: 70_000) + Data("\r\n".utf8) + body),
                    status: 413,
                    message: "The request is too large (maximum is 65536 bytes)"
                )
            )
            try await service.check([
                upload(
                    "image in the query",
                    [title, .image()],
                    query: "?image=x",
                    token: token,
                    status: 400,
                    message: missing
                ),
                Scenario(
                    "JSON",
                    "POST /api/upload_photo",
                    authorization: tokenHeader(token),
                    .json(#"{"title":"a","image":"b"}"#),
                    status: 400,
                    message: missing
                ),
                Scenario(
                    "a form",
                    "POST /api/upload_photo",
                    authorization: tokenHeader(token),
                    .form([("title", "a"), ("image", "b")]),
                    status: 400,
                    message: missing
                ),
                Scenario(
                    "no body",
                    "POST /api/upload_photo",
                    authorization: tokenHeader(token),
                    status: 400,
                    message: missing
                ),
            ])
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
            #expect(service.objects.keys().isEmpty)
        }
    }

    @Test("A body that ends early is refused, and leaves no row and no object")
    func cutShort() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            // Without its last part it has all that an upload needs.
            let (contentType, body) = try #require(payload([.image(), .title("a"), .title("b")]).encoded)
            for count in [0, 1, 50, body.count / 2, body.count - 25, body.count - 20, body.count - 5, body.count - 3] {
                try await service.check(
                    Scenario(
                        "\(count) of \(body.count) bytes",
                        "POST /api/upload_photo",
                        authorization: tokenHeader(token),
                        .raw(contentType: contentType, body.prefix(count)),
                        status: 400,
                        message: "The request's body is incomplete"
                    )
                )
            }
        }
    }

    @Test("A truncated photo is refused, and leaves no row and no object; bytes behind a photo are not stored")
    func cutPhoto() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let jpeg = TestImage.jpeg
            let heads: [(String, Data)] = [
                ("3,000 of 16,890 bytes", jpeg.prefix(3_000)), ("all but two bytes", jpeg.dropLast(2)),
                ("all but two bytes, and 3 MB of zeros", jpeg.dropLast(2) + Data(count: 3_000_000)),
            ]
            let samples = try TestImage.samples().filter { !$0.name.hasSuffix("gif") }
            #expect(samples.count == 18)
            let before = try await service.state()
            for (name, bytes) in heads + samples.map({ ($0.name, $0.bytes.dropLast(2)) }) {
                let answer = try await service.upload(bytes, token: token, title: name)
                #expect(answer.status == 415 && answer.message == notPhoto, "\(name): \(answer.text)")
            }
            #expect(try await service.state() == before)
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
            #expect(service.objects.keys().isEmpty)

            let answer = try await service.upload(jpeg + Data(count: 5_000_000), token: token)
            #expect(answer.status == 200 && answer.json["byte_count"] as? Int == jpeg.count, "\(answer.text)")
            let isSame = service.objects.bytes(key: try #require(answer.json["random_id"] as? String)) == jpeg
            #expect(isSame)
        }
    }

    @Test("Values at their limits are accepted, and stored as they were sent")
    func accepted() async throws {
        try await TestService.run(settings: ["UPLOAD_BYTES_MAX": "4096"]) { service in
            let token = try await service.makeToken()
            let largest = TestImage.png(bytes: 4096)
            let title = String(repeating: "ü", count: 255)
            let name = String(repeating: "n", count: 255)
            let other = TestImage.png(bytes: 100, seed: 7)
            let uploads: [(name: String, parts: [Part], query: String, title: String, fileName: String, bytes: Data)] =
                [
                    ("the largest", [.title(title), .image(largest, fileName: name)], "", title, name, largest),
                    ("image first", [.image(), .title("t")], "", "t", "photo", photo),
                    ("an empty title", [.title(""), .image()], "", "", "photo", photo),
                    ("a title in the query", [.image()], "?title=in%20query", "in query", "photo", photo),
                    ("the query wins", [.title("body"), .image()], "?title=query", "query", "photo", photo),
                    ("the last title", [.title("a"), .image(), .title("b")], "", "b", "photo", photo),
                    ("the last image", [.title("t"), .image(), .image(other, fileName: "o")], "", "t", "o", other),
                    ("a text, then a file", [.title("t"), .image(fileName: nil), .image()], "", "t", "photo", photo),
                    (
                        "other parts", [.title("t"), Part(name: "x", fileName: "x", bytes: largest), .image()], "", "t",
                        "photo", photo
                    ),
                    (
                        "quotes and letters", [.title(#""q" \ <b> é 李"#), .image()], "", #""q" \ <b> é 李"#, "photo",
                        photo
                    ),
                ]
            for (name, parts, query, title, fileName, bytes) in uploads {
                let answer = try await service.check(upload(name, parts, query: query, token: token))
                #expect(answer.json["title"] as? String == title, "\(name)")
                #expect(answer.json["name"] as? String == fileName, "\(name)")
                let randomID = try #require(answer.json["random_id"] as? String)
                let isSame = service.objects.bytes(key: randomID) == bytes
                #expect(isSame, "\(name)")
            }
            #expect(service.objects.keys().count == uploads.count)
        }
    }

    @Test("Only the last part of a file's name is stored, and it is never a key")
    func baseName() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let names = [
                ("photo.png", "photo.png"), ("../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"),
                (#"C:\photos\me.png"#, "me.png"), (#"a/b\c.png"#, "c.png"), ("a;b.png", "a;b.png"),
                ("ü 李.png", "ü 李.png"),
                ("..", ".."), ("a/", "a"),
            ]
            for (fileName, name) in names {
                let answer = try await service.check(
                    upload(fileName, [.title("t"), .image(fileName: fileName)], token: token)
                )
                #expect(answer.json["name"] as? String == name, "\(fileName)")
                let randomID = try #require(answer.json["random_id"] as? String)
                #expect(service.objects.keys().contains(randomID))
                #expect(answer.json["image_url"].map { "\($0)".contains("/photos/\(randomID)?") } == true)
            }
            #expect(service.objects.keys().allSatisfy { $0.wholeMatch(of: /[A-Za-z0-9]{41,}/) != nil })
        }
    }
}
