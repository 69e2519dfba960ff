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

/// With very short limits, so that the tests are fast; `ConnectionClockTests` checks the real ones.
@Suite("Clients that are slow", .timeLimit(.minutes(2)))
struct SlowClientTests {
    private static func shorten(_ service: inout SelfieService) {
        service.limits.headerTimeout = .milliseconds(20)
        service.limits.bodyWindow = .milliseconds(50)
        service.limits.lingerTimeout = .seconds(60)
        service.limits.tick = .milliseconds(10)
    }

    @Test("What stops arriving is refused, whatever has come, while others are served, and leaves nothing")
    func silence() async throws {
        try await TestService.run(adjust: Self.shorten) { service in
            let token = try await service.addSession()
            let body = TestMultipart.body(image: TestImage.png(bytes: 50_000), title: "Slow")
            let signUp =
                "POST /api/signup HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(TestService.basic)\r\n"
                + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
            let beginnings: [@Sendable (RawConnection) async throws -> Void] = [
                { try await $0.send("GET / HTTP/1.1\r\nX-Slow: x") },
                { try await $0.sendUploadHead(token: token, "Content-Length: 100") },
                { try await $0.sendUploadHead(token: token, "Transfer-Encoding: chunked") },
                {
                    try await $0.sendUploadHead(token: token, "Content-Length: \(body.count)")
                    try await $0.send(body.prefix(40_000))
                },
                { try await $0.send(signUp) },
                { try await $0.send(signUp + "{\"full_name\":") },
            ]
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for begin in beginnings {
                    tasks.addTask {
                        // A busy machine may not have answered when the time for that is over, too.
                        let answer = try await found("an answer") {
                            try await RawConnection.open(port: service.port) { connection in
                                try await begin(connection)
                                return try await connection.readResponse()
                            }
                        }
                        #expect(answer.status == 408 && answer.headers["connection"] == "close", "\(answer.text)")
                        #expect(answer.json["status"] as? Int == 408 && answer.message?.isEmpty == false)
                    }
                }
                for _ in 0..<10 { #expect(try await service.list(token: token).status == 200) }
                try await tasks.waitForAll()
            }
            try await service.expectNothingStored()
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
        }
    }

    @Test("A connection without a request is closed")
    func idle() async throws {
        try await TestService.run(adjust: {
            $0.limits.idleTimeout = .milliseconds(20)
            $0.limits.tick = .milliseconds(10)
        }) { service in
            let rest = try await RawConnection.open(port: service.port) { try await $0.readToEnd() }
            #expect(rest.isEmpty)
        }
    }

    @Test("A client that does not read its photo is dropped, and its file closed")
    func unreadAnswer() async throws {
        try await TestService.run(adjust: {
            $0.limits.writeTimeout = .milliseconds(20)
            $0.limits.tick = .milliseconds(10)
        }) { service in
            guard case .disk(let folder) = service.objects else { throw NotInTime(what: "a disk") }
            // More than all sockets between hold.
            let image = TestImage.png(bytes: 30 << 20)
            let photo = try await service.addPhoto(image)
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send("GET \(photo.target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                var received = try await connection.readSome()
                #expect(received.starts(with: "HTTP/1.1 200 ".utf8))
                try await poll("the file is closed") {
                    try ProcessTable.openFiles().allSatisfy { !$0.hasPrefix(folder.path) }
                }
                received += (try? await connection.readToEnd()) ?? Data()
                #expect(received.count < image.count)
            }
            #expect(try await service.send("GET", "/").status == 200)
        }
    }
}
