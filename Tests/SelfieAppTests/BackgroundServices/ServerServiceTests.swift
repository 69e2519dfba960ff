import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Graceful shutdown", .timeLimit(.minutes(2)))
struct ServerServiceTests {
    private static let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test(
        "Connections without a request are closed: a used one at once, a new one when its request has not come in time"
    )
    func idle() async throws {
        try await TestService.run { service in
            try await RawConnection.open(port: service.port) { used in
                try await used.send(Self.get)
                #expect(try await used.readResponse()?.status == 200)
                try await RawConnection.open(port: service.port) { silent in
                    // An answered request proves that the connection before it was accepted, too.
                    let answer = try await service.send("GET", "/")
                    #expect(answer.status == 200)
                    await service.beginShutdown()
                    let rest = try await silent.readToEnd()
                    #expect(rest.isEmpty)
                }
                #expect(try await used.readToEnd().isEmpty)
            }
        }
    }

    @Test("A running upload finishes, its connection ends with the answer, and no other client connects")
    func upload() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let image = TestImage.png(bytes: 2_000_000)
            let body = TestMultipart.body(image: image, title: "Last")
            try await RawConnection.open(port: service.port) { connection in
                try await connection.sendUploadHead(
                    token: token,
                    "Content-Length: \(body.count)",
                    "Expect: 100-continue"
                )
                #expect(try await connection.readResponse()?.status == 100)
                try await connection.send(body.prefix(1_000_000))
                await service.beginShutdown()
                try await poll("new connections are refused") {
                    do {
                        try await RawConnection.open(port: service.port) { _ in }
                        return false
                    } catch {
                        return true
                    }
                }
                try await connection.send(body.dropFirst(1_000_000))
                let answer = try #require(try await connection.readResponse())
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer.headers["connection"] == "close")
                #expect(try await connection.readToEnd().isEmpty)
                let randomID = try #require(answer.json["random_id"] as? String)
                #expect(service.objects.bytes(key: randomID) == image)
            }
            #expect(try await service.count("SELECT count(*) FROM photos WHERE state = 'ready'") == 1)
        }
    }

    @Test("A running download finishes")
    func download() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let image = TestImage.png(bytes: 16 << 20)
            let url = try #require(try await service.upload(image, token: token).json["image_url"] as? String)
            try await RawConnection.open(port: service.port) { connection in
                let target = url.dropFirst(service.origin.count)
                try await connection.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                // The answer is larger than all buffers between, so it is still being written.
                let head = try await connection.readSome()
                #expect(head.starts(with: "HTTP/1.1 200".utf8))
                await service.beginShutdown()
                let rest = try await connection.readToEnd()
                #expect((head + rest).suffix(image.count) == image)
            }
        }
    }
}
