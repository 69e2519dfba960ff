import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Parts of photos", .timeLimit(.minutes(2)))
struct PhotoRangeTests {
    private static let image = TestImage.png(bytes: 1_300_000)

    @Test("A part is given, or refused, or all is", arguments: TestDelivery.direct)
    func ranges(delivery: TestDelivery) async throws {
        try await TestService.run(store: delivery.store, settings: delivery.settings) { service in
            let photo = try await service.uploadedPhoto(Self.image)
            let count = Self.image.count
            let parts: [(header: String, range: Range<Int>)] = [
                ("bytes=0-0", 0..<1), ("bytes=0-7", 0..<8), ("bytes=100-1099", 100..<1100),
                ("bytes=\(count - 1)-\(count)", count - 1..<count), ("bytes=5-", 5..<count), ("bytes=0-", 0..<count),
                ("bytes=-1", count - 1..<count), ("bytes=-70000", count - 70_000..<count),
                ("bytes=-\(count + 1)", 0..<count), ("bytes=500000-1200000", 500_000..<1_200_001),
            ]
            for (header, range) in parts {
                let answer = try await service.send("GET", photo.target, headers: [("Range", header)])
                #expect(answer.status == 206, "\(header)")
                #expect(answer.headers["content-range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)")
                #expect(answer.headers["content-length"] == String(range.count))
                #expect(answer.headers["etag"] == photo.tag)
                #expect(answer.headers["content-type"] == "image/png")
                let isSame = answer.body == Self.image[range]
                #expect(isSame, "\(header)")
            }
            for header in ["bytes=2-1", "bytes=0-1,3-4", "bytes=x", "lines=1-2", ""] {
                let answer = try await service.send("GET", photo.target, headers: [("Range", header)])
                #expect(answer.status == 200, "\(header)")
                #expect(answer.headers["content-range"] == nil)
                let isSame = answer.body == Self.image
                #expect(isSame, "\(header)")
            }
            for header in ["bytes=\(count)-", "bytes=\(count)-\(count + 9)", "bytes=-0"] {
                let answer = try await service.check(
                    Scenario(
                        header,
                        "GET \(photo.target)",
                        headers: [("Range", header)],
                        status: 416,
                        message: "The photo does not have these bytes"
                    )
                )
                #expect(answer.headers["content-range"] == "bytes */\(count)")
            }
        }
    }

    @Test(
        "With If-Range, a part is given of the version that it names, and all of another",
        arguments: TestDelivery.direct
    )
    func ifRange(delivery: TestDelivery) async throws {
        try await TestService.run(store: delivery.store, settings: delivery.settings) { service in
            let photo = try await service.uploadedPhoto()
            let modified = try #require(try await service.send("HEAD", photo.target).headers["last-modified"])
            let versions = [
                (photo.tag, 206), (modified, 206), ("W/\(photo.tag)", 200), ("\"x\"", 200), ("*", 200),
                ("Sun, 06 Nov 1994 08:49:37 GMT", 200),
            ]
            for (version, status) in versions {
                for range in ["bytes=2-3", "bytes=99999999-"] {
                    let headers = [("If-Range", version), ("Range", range)]
                    let answer = try await service.send("GET", photo.target, headers: headers)
                    #expect(answer.status == (status == 206 && range != "bytes=2-3" ? 416 : status), "\(headers)")
                    if answer.status == 206 { #expect(answer.body == TestImage.jpeg[2..<4]) }
                    if answer.status == 200 { #expect(answer.body == TestImage.jpeg) }
                }
            }
        }
    }

    @Test("Answers with files, parts and without bodies follow each other on one connection")
    func oneConnection() async throws {
        try await TestService.run { service in
            let photo = try await service.uploadedPhoto(Self.image)
            try await RawConnection.open(port: service.port) { connection in
                for round in 0..<3 {
                    let request = "\(photo.target) HTTP/1.1\r\nHost: a\r\n"
                    try await connection.send(
                        "HEAD \(request)\r\nGET \(request)\r\nGET \(request)Range: bytes=3-9\r\n\r\n"
                            + "GET \(request)If-None-Match: *\r\n\r\nGET \(request)Range: bytes=-0\r\n\r\n"
                            + "GET \(request)\(round == 2 ? "Connection: close\r\n" : "")\r\n"
                    )
                    let head = try #require(try await connection.readResponse(isHead: true))
                    #expect(head.headers["content-length"] == String(Self.image.count))
                    var answers: [HTTPAnswer] = []
                    for _ in 0..<5 { answers.append(try #require(try await connection.readResponse())) }
                    #expect(answers.map(\.status) == [200, 206, 304, 416, 200])
                    #expect(answers[1].body == Self.image[3..<10])
                    let isSame = answers[0].body == Self.image && answers[4].body == Self.image
                    #expect(isSame)
                }
                #expect(try await connection.readToEnd().isEmpty)
            }
        }
    }
}
