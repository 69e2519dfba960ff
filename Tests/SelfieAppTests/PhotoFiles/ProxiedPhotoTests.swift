import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import S3
import S3TestSupport
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

/// Photos that come through the service from a bucket that fails, to clients that are slow or leave.
@Suite("Photos through the service", .timeLimit(.minutes(3)))
struct ProxiedPhotoTests {
    /// More than all sockets between a bucket and a client hold.
    private static let image = TestImage.png(bytes: 48 << 20)

    @Test("A bucket that is down, or halted, before the first byte is a 503", arguments: [true, false])
    func noFirstByte(isKilled: Bool) async throws {
        let time = ManualTime()
        try await TestService.withProxiedPhoto(
            TestImage.jpeg,
            adjust: {
                $0.bucket.clock = time
                $0.bucket.retries = S3RetryPolicy(random: { $0.lowerBound })
            }
        ) { service, server, photo in
            if isKilled { server.kill() } else { try await server.suspend() }
            for (method, headers) in [("GET", []), ("GET", [("Range", "bytes=1-2")]), ("HEAD", [])] {
                let answer = try await whilePassing({ time.advance(by: .milliseconds(250)) }) {
                    try await service.check(
                        Scenario("down", "\(method) \(photo.target)", headers: headers, status: 503)
                    )
                }
                #expect(answer.headers["retry-after"] == "5")
            }
            server.resume()
            if isKilled { try await server.restart() }
            try await poll("the photo comes again") {
                try await service.send("GET", photo.target).body == TestImage.jpeg
            }
        }
    }

    @Test("A bucket that dies in the middle ends the connection, and no wrong bytes were sent")
    func diesInTheMiddle() async throws {
        try await TestService.withProxiedPhoto(
            Self.image,
            adjust: { $0.bucket.transferPauses = [.milliseconds(10)] }
        ) { service, server, photo in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.get(photo)
                var received = try await connection.readSome()
                #expect(received.starts(with: Data("HTTP/1.1 200".utf8)))
                // While this client waits, another gets all of it; the bucket would have sent this one all, too.
                #expect(try await service.send("GET", photo.target).body.count == Self.image.count)
                server.kill()
                received += (try? await connection.readToEnd()) ?? Data()
                #expect(received.count < Self.image.count * 3 / 4)
            }
            try await poll("it is logged") { service.log.text.contains("error a photo broke off") }
            let answer = try await service.send("GET", photo.target)
            #expect(answer.status == 503)
        }
    }

    @Test("A transfer that broke off resumes where it was")
    func goesOn() async throws {
        try await TestService.withProxiedPhoto(Self.image, adjust: Self.tryLong) { service, server, photo in
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

    @Test("Bytes of a changed object are not appended to those of the old one")
    func changedMeanwhile() async throws {
        try await TestService.withProxiedPhoto(Self.image, adjust: Self.tryLong) { service, server, photo in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.get(photo)
                let start = try await connection.readSome()
                try await service.objects.write(TestImage.png(bytes: Self.image.count, seed: 1), key: photo.randomID)
                try await server.restart()
                let received = start + ((try? await connection.readToEnd()) ?? Data())
                #expect(received.count < Self.image.count)
            }
            try await poll("it is logged") { service.log.text.contains("error a photo broke off") }
        }
    }

    @Test("A client that leaves ends the transfer from the bucket", arguments: [true, false])
    func leaves(readsFirst: Bool) async throws {
        try await TestService.withProxiedPhoto(Self.image) { service, server, photo in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.get(photo)
                if readsFirst { _ = try await connection.readSome() }
                try await poll("the transfer has begun") { try server.connectionCount > 0 }
            }
            try await poll("the transfer has ended") { try server.connectionCount == 0 }
            #expect(service.log.entries.filter { $0.contains("a photo broke off") } == [])
        }
    }

    @Test("A client that stops to read is dropped, and the transfer from the bucket with it")
    func stops() async throws {
        try await TestService.withProxiedPhoto(
            Self.image,
            adjust: {
                $0.limits.writeTimeout = .milliseconds(20)
                $0.limits.tick = .milliseconds(10)
            }
        ) { service, server, photo in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.get(photo)
                var received = try await connection.readSome()
                #expect(received.starts(with: Data("HTTP/1.1 200".utf8)))
                try await poll("the transfer has ended") { try server.connectionCount == 0 }
                received += (try? await connection.readToEnd()) ?? Data()
                #expect(received.count < Self.image.count)
            }
        }
    }

    /// Waits for a bucket that is down as long as a busy machine takes to start it.
    private static func tryLong(_ service: inout SelfieService) {
        service.bucket.transferPauses = Array(repeating: .milliseconds(20), count: 3_000)
    }
}
