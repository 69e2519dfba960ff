import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

/// Photos that come through the service from a bucket that fails, to clients that are slow or leave.
@Suite("Photos through the service, in real time", .serialized, .timeLimit(.minutes(3)))
struct ProxiedPhotoSoakTests {
    /// More than all sockets between a bucket and a client hold.
    private static let image = TestImage.png(bytes: 48 << 20)

    @Test("A bucket that is down, or halted, before the first byte is a 503 within 5 s", arguments: [true, false])
    func noFirstByte(isKilled: Bool) async throws {
        try await TestService.withProxiedPhoto(TestImage.jpeg) { service, server, photo in
            if isKilled { server.kill() } else { try await server.suspend() }
            for (method, headers) in [("GET", []), ("GET", [("Range", "bytes=1-2")]), ("HEAD", [])] {
                let answer = try await expectAnswer(within: maxOutageAnswer, name: method) {
                    try await service.send(method, photo.target, headers: headers)
                }
                #expect(answer.status == 503)
                #expect(answer.headers["retry-after"] == "5")
            }
            server.resume()
            if isKilled { try await server.restart() }
            #expect(try await service.send("GET", photo.target).body == TestImage.jpeg)
        }
    }

    @Test("A transfer that broke off resumes where it was")
    func goesOn() async throws {
        try await TestService.withProxiedPhoto(Self.image) { service, server, photo in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.get(photo)
                let start = try await connection.readSome()
                try await server.restart()
                let rest = try await connection.readPhoto(start, of: Self.image.count)
                let isSame = rest == Self.image
                #expect(isSame)
            }
            #expect(service.log.entries.filter { $0.contains("a photo broke off") } == [])
        }
    }

    @Test(
        "A client that reads steadily but slowly gets all of its photo, one that stops is dropped",
        arguments: [true, false]
    )
    func slow(reads: Bool) async throws {
        try await TestService.withProxiedPhoto(
            Self.image,
            adjust: {
                $0.limits.writeTimeout = .seconds(3)
                $0.limits.tick = .milliseconds(50)
            }
        ) { service, server, photo in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.get(photo)
                guard reads else {
                    try await poll("the transfer has begun") { try server.connectionCount > 0 }
                    try await poll("the client was dropped") { try server.connectionCount == 0 }
                    return
                }
                var received = Data()
                let start = ContinuousClock.now
                while ContinuousClock.now - start < .seconds(8) {
                    received += try await connection.readSome()
                    // Not slower: a system with large buffers takes no more before a sixteenth of them is free.
                    try await Task.sleep(for: .milliseconds(20))
                }
                let isSame = try await connection.readPhoto(received, of: Self.image.count) == Self.image
                #expect(isSame, "\(service.log.text.suffix(1000))")
            }
        }
    }
}
