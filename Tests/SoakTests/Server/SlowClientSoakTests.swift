import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

/// In real time: one case of each limit that `SelfieAppTests` looks at by a clock of their own.
@Suite("Clients that are slow, in real time", .timeLimit(.minutes(5)))
struct SlowClientSoakTests {
    private static let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private static func shorten(_ service: inout SelfieService) {
        service.limits.idleTimeout = .seconds(5)
        service.limits.headerTimeout = .seconds(4)
        service.limits.bodyWindow = .seconds(5)
        service.limits.minBodyBytesPerWindow = 3000
        service.limits.lingerTimeout = .seconds(3)
        service.limits.tick = .milliseconds(50)
    }

    @Test("With the limits as they are in use, silence in a body is refused within 30 s, idleness within 65")
    func limitsInUse() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    try await RawConnection.open(port: service.port) { connection in
                        let start = ContinuousClock.now
                        try await connection.sendUploadHead(token: token, "Content-Length: 100000")
                        try await connection.send(Data(repeating: 0x61, count: 10_000))
                        try await connection.expectLastRefusal(408)
                        #expect(ContinuousClock.now - start < .seconds(30))
                    }
                }
                tasks.addTask {
                    try await RawConnection.open(port: service.port) { connection in
                        let start = ContinuousClock.now
                        let rest = try await connection.readToEnd()
                        #expect(rest.isEmpty)
                        let time = ContinuousClock.now - start
                        #expect(time > .seconds(59) && time < .seconds(65))
                    }
                }
                try await tasks.waitForAll()
            }
            try await service.expectNoPhoto()
        }
    }

    @Test("A connection without a request is closed, used or not")
    func idle() async throws {
        try await TestService.run(adjust: Self.shorten) { service in
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

    @Test("Headers and bodies that trickle are refused while others are served at once, and leave nothing")
    func trickling() async throws {
        try await TestService.run(settings: ["UPLOADS_AT_ONCE_PER_USER_MAX": "8"], adjust: Self.shorten) { service in
            let token = try await service.makeToken()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    try await RawConnection.open(port: service.port) { connection in
                        let header = "GET / HTTP/1.1\r\nX-Slow: " + String(repeating: "x", count: 10_000)
                        let trickle = connection.trickle(Data(header.utf8))
                        try await connection.expectLastRefusal(408)
                        trickle.cancel()
                    }
                }
                for _ in 0..<8 {
                    tasks.addTask {
                        try await RawConnection.open(port: service.port) { connection in
                            let body = TestMultipart.body(image: TestImage.png(bytes: 50_000), title: "Slow")
                            try await connection.sendUploadHead(token: token, "Content-Length: \(body.count)")
                            let trickle = connection.trickle(body)
                            try await connection.expectLastRefusal(408)
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
            try await service.expectNoPhoto()
        }
    }

    @Test("A slow but steady upload takes as long as it needs")
    func steadyUpload() async throws {
        try await TestService.run(adjust: Self.shorten) { service in
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

    @Test("A client that pauses before it reads its photo gets all of it, even as the connection's last answer")
    func slowReader() async throws {
        try await TestService.run(adjust: {
            $0.limits.lingerTimeout = .milliseconds(50)
            $0.limits.tick = .milliseconds(50)
        }) { service in
            let image = TestImage.png(bytes: 8 << 20)
            let photo = try await service.addPhoto(image)
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send(
                    "GET \(photo.target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                )
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
            let photo = try await service.addPhoto(TestImage.png(bytes: 30 << 20))
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
