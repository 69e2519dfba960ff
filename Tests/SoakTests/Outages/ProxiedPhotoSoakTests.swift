import Foundation
import NIOCore
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

/// Photos that come through the service from a bucket that fails, to clients that are slow or leave.
@Suite("Photos through the service, in real time", .serialized, .timeLimit(.minutes(3)))
struct ProxiedPhotoSoakTests {
    /// More than all sockets between a bucket and a client hold.
    private static let image = TestImage.png(bytes: 48 << 20)

    private func withPhoto(
        _ image: Data,
        adjust: @Sendable (inout PhotoService) -> Void = { _ in },
        _ body: @Sendable (TestService, RcloneServer, StoredPhoto) async throws -> Void
    ) async throws {
        try await TestService.run(store: .ownS3, settings: ["PHOTO_DELIVERY": "proxy"], adjust: adjust) { service in
            guard case .s3(let server, _) = service.objects else { throw NotInTime(what: "a server of its own") }
            try await body(service, server, try await service.addPhoto(image))
        }
    }

    /// How many connections to the bucket are open.
    private static func connections(to server: RcloneServer) throws -> Int {
        try SocketTable.openCount(to: try #require(server.endpoint.split(separator: ":").last.flatMap { Int($0) }))
    }

    private static func get(_ photo: StoredPhoto) -> String {
        "GET \(photo.target) HTTP/1.1\r\nHost: localhost\r\n\r\n"
    }

    @Test("A bucket that is down, or halted, before the first byte is a 503 within 5 s", arguments: [true, false])
    func noFirstByte(isKilled: Bool) async throws {
        try await withPhoto(TestImage.jpeg) { service, server, photo in
            if isKilled { server.kill() } else { try await server.suspend() }
            for (method, headers) in [("GET", []), ("GET", [("Range", "bytes=1-2")]), ("HEAD", [])] {
                let start = ContinuousClock.now
                let answer = try await service.send(method, photo.target, headers: headers)
                #expect(answer.status == 503)
                #expect(answer.headers["retry-after"] == "5")
                #expect(ContinuousClock.now - start < outageAnswerMax)
            }
            server.resume()
            if isKilled { try await server.restart() }
            #expect(try await service.send("GET", photo.target).body == TestImage.jpeg)
        }
    }

    @Test("A transfer that broke off goes on where it was")
    func goesOn() async throws {
        try await withPhoto(Self.image) { service, server, photo in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send(Self.get(photo))
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
        try await withPhoto(
            Self.image,
            adjust: {
                $0.limits.writeTimeout = .seconds(3)
                $0.limits.tick = .milliseconds(50)
            }
        ) { service, server, photo in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send(Self.get(photo))
                guard reads else {
                    try await poll("the transfer has begun") { try Self.connections(to: server) > 0 }
                    try await poll("the client was dropped") { try Self.connections(to: server) == 0 }
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

extension RawConnection {
    /// Reads the rest of an answer with a photo.
    ///
    /// - Parameters:
    ///   - start: What was read of the answer.
    ///   - count: The photo's length.
    /// - Returns: The body, as far as the server sent it.
    /// - Throws: What the connection throws.
    fileprivate mutating func readPhoto(_ start: Data, of count: Int) async throws -> Data {
        var received = start
        let end = try #require(received.range(of: Data("\r\n\r\n".utf8))?.upperBound)
        while received.count < end + count {
            let next = try await readSome()
            if next.isEmpty { break }
            received += next
        }
        return Data(received[end...])
    }
}
