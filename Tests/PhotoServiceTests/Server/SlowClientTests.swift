import Foundation
import NIOCore
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

@Suite("Clients that are slow", .timeLimit(.minutes(2)))
struct SlowClientTests {
    private static let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("A connection without a request is closed, used or not")
    func idle() async throws {
        try await TestService.run(adjust: {
            $0.limits.idleTimeout = .seconds(5)
            $0.limits.tick = .milliseconds(50)
        }) { service in
            for requestCount in 0...1 {
                try await RawConnection.open(port: service.port) { connection in
                    for _ in 0..<requestCount {
                        try await connection.send(Self.get)
                        #expect(try await connection.readResponse()?.status == 200)
                    }
                    #expect(try await connection.readToEnd().isEmpty)
                }
            }
        }
    }

    @Test("A header that trickles in byte by byte is refused while others are served")
    func tricklingHeader() async throws {
        try await TestService.run(adjust: shortLimits) { service in
            try await RawConnection.open(port: service.port) { connection in
                let header = "GET / HTTP/1.1\r\nX-Slow: " + String(repeating: "x", count: 10_000)
                let trickle = connection.trickle(Data(header.utf8))
                #expect(try await service.send("GET", "/").status == 200)
                try await connection.expectRefusal(408)
                trickle.cancel()
            }
        }
    }

    @Test("Bodies that trickle are refused while others are served at once, and leave nothing")
    func tricklingBody() async throws {
        try await TestService.run(adjust: shortLimits) { service in
            let token = try await service.makeToken()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<8 {
                    tasks.addTask {
                        try await RawConnection.open(port: service.port) { connection in
                            let body = TestMultipart.body(image: TestImage.png(bytes: 50_000), title: "Slow")
                            try await connection.sendUploadHead(token: token, "Content-Length: \(body.count)")
                            let trickle = connection.trickle(body)
                            try await connection.expectRefusal(408)
                            trickle.cancel()
                        }
                    }
                }
                for _ in 0..<10 {
                    let start = ContinuousClock.now
                    #expect(try await service.list(token: token).status == 200)
                    #expect(ContinuousClock.now - start < .seconds(4))
                }
                try await tasks.waitForAll()
            }
            try await service.expectNothingStored()
        }
    }

    @Test("A body that never begins is refused")
    func silentBody() async throws {
        try await TestService.run(adjust: shortLimits) { service in
            let token = try await service.makeToken()
            for framing in ["Content-Length: 100", "Transfer-Encoding: chunked"] {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.sendUploadHead(token: token, framing)
                    try await connection.expectRefusal(408)
                }
            }
            try await service.expectNothingStored()
        }
    }

    @Test("A body that stops is refused on calls with small bodies, too")
    func silentForm() async throws {
        try await TestService.run(adjust: shortLimits) { service in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send(
                    "POST /api/signup HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(TestService.basic)\r\n"
                        + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"full_name\":"
                )
                try await connection.expectRefusal(408)
            }
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
        }
    }

    @Test("A slow but steady upload takes as long as it needs")
    func steadyUpload() async throws {
        try await TestService.run(adjust: shortLimits) { service in
            let token = try await service.makeToken()
            let image = TestImage.png(bytes: 100_000)
            try await RawConnection.open(port: service.port) { connection in
                let body = TestMultipart.body(image: image, title: "Steady")
                try await connection.sendUploadHead(token: token, "Content-Length: \(body.count)")
                // Two windows at fifteen times the least speed.
                for start in stride(from: 0, to: body.count, by: 2500) {
                    try await connection.send(Data(body[start..<min(start + 2500, body.count)]))
                    try await Task.sleep(for: .milliseconds(250))
                }
                let answer = try #require(try await connection.readResponse())
                #expect(answer.status == 200, "\(answer.text)")
                let randomID = try #require(answer.json["random_id"] as? String)
                #expect(service.objects.bytes(key: randomID) == image)
            }
        }
    }

    @Test("A client that does not read its photo is dropped")
    func unreadAnswer() async throws {
        try await TestService.run(adjust: {
            $0.limits.writeTimeout = .seconds(2)
            $0.limits.tick = .milliseconds(50)
        }) { service in
            let token = try await service.makeToken()
            let image = TestImage.png(bytes: 30 << 20)
            let url = try #require(try await service.upload(image, token: token).json["image_url"] as? String)
            let received = try await RawConnection.open(port: service.port) { connection in
                let target = url.dropFirst(service.origin.count)
                try await connection.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                try await poll("the file is open") { Self.openFiles(below: service) == 1 }
                try await poll("the file is closed") { Self.openFiles(below: service) == 0 }
                return (try? await connection.readToEnd().count) ?? 0
            }
            #expect(received < image.count)
            #expect(try await service.send("GET", "/").status == 200)
        }
    }

    /// How many of a service's objects this process has open.
    private static func openFiles(below service: TestService) -> Int {
        guard case .disk(let folder) = service.objects else { return 0 }
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.count { descriptor in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return path?.hasPrefix(folder.path) == true
        }
    }

    @Test("A client that pauses before it reads its photo gets all of it, even as the connection's last answer")
    func slowReader() async throws {
        try await TestService.run(adjust: {
            $0.limits.lingerTimeout = .milliseconds(50)
            $0.limits.tick = .milliseconds(50)
        }) { service in
            let token = try await service.makeToken()
            let image = TestImage.png(bytes: 8 << 20)
            let url = try #require(try await service.upload(image, token: token).json["image_url"] as? String)
            try await RawConnection.open(port: service.port) { connection in
                let target = url.dropFirst(service.origin.count)
                try await connection.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                // Slowest at the end, when the server has nothing left to write and only waits for it to be sent.
                var received = 0
                while true {
                    let bytes = try await connection.readSome()
                    if bytes.isEmpty { break }
                    received += bytes.count
                    if received > image.count - (2 << 20) { try await Task.sleep(for: .milliseconds(20)) }
                }
                #expect(received > image.count)
            }
        }
    }

    @Test(
        "A client that reads its photo slowly but steadily gets all of it, also when it has closed its sending side",
        arguments: [false, true]
    )
    func steadyReader(closesItsSide: Bool) async throws {
        try await TestService.run(adjust: {
            $0.limits.halfClosedTimeout = .milliseconds(100)
            $0.limits.writeTimeout = .seconds(3)
            $0.limits.tick = .milliseconds(50)
        }) { service in
            let photo = try await service.uploadedPhoto(TestImage.png(bytes: 30 << 20))
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send("GET \(photo.target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                var received = try await connection.readSome().count
                if closesItsSide { connection.finish() }
                let start = ContinuousClock.now
                while received < 30 << 20 {
                    let bytes = try await connection.readSome()
                    if bytes.isEmpty { break }
                    received += bytes.count
                    // More than twice the time-out while the server has more to send than the sockets hold.
                    if ContinuousClock.now - start < .seconds(7) { try await Task.sleep(for: .milliseconds(20)) }
                }
                #expect(received > 30 << 20)
            }
        }
    }
}
