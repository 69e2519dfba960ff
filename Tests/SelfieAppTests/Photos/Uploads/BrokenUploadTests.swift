import ConnectionTestSupport
import Foundation
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Uploads that break", .timeLimit(.minutes(2)))
struct BrokenUploadTests {
    private static let body = TestMultipart.body(image: TestImage.png(bytes: 2_500_000), title: "A photo")

    @Test("A body that ends early is refused, wherever it ends")
    func halfClose() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for count in [0, 10, 200, 100_000, 2_000_000, Self.body.count - 30, Self.body.count - 5] {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.sendUploadHead(token: token, "Content-Length: \(Self.body.count)")
                    try await connection.send(Self.body.prefix(count))
                    connection.finish()
                    try await connection.expectRefusal(400, about: "\(count) bytes")
                }
                try await service.expectNothingStored()
            }
        }
    }

    @Test("A client that leaves in the middle leaves nothing behind")
    func disconnect() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let counts = [0, 10, 200, 100_000, 2_000_000]
            for count in counts {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.sendUploadHead(token: token, "Content-Length: \(Self.body.count)")
                    try await connection.send(Self.body.prefix(count))
                }
            }
            try await poll("the requests have ended") {
                service.log.entries.count { $0.contains("endpoint=/api/upload_photo") } == counts.count
            }
            try await service.expectNothingStored()
        }
    }

    @Test("Many clients that disconnect in the middle affect no others")
    func manyDisconnects() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for index in 0..<40 {
                    tasks.addTask {
                        try await RawConnection.open(port: service.port) { connection in
                            try await connection.sendUploadHead(token: token, "Content-Length: \(Self.body.count)")
                            try await connection.send(Self.body.prefix(index * 50_000))
                        }
                    }
                }
                try await tasks.waitForAll()
            }
            try await poll("the requests have ended") {
                service.log.entries.count { $0.contains("endpoint=/api/upload_photo") } == 40
            }
            #expect(try await service.list(token: token).text == "[]")
            try await service.expectNothingStored()
        }
    }

    private static let whole = String(
        decoding: TestMultipart.body(image: Data("GIF89a".utf8), title: "A"),
        as: UTF8.self
    )

    @Test("A body that is invalid as a whole is refused at its end, and the connection stays open")
    func malformed() async throws {
        let whole = Self.whole
        let bodies = [
            whole.replacing(TestMultipart.boundary, with: "other"), whole.replacing("--\r\n", with: "\r\n"),
            String(whole.dropLast(4)), "", "hello", "--\(TestMultipart.boundary)",
        ]
        try await TestService.run { service in
            let token = try await service.makeToken()
            try await RawConnection.open(port: service.port) { connection in
                for body in bodies + bodies {
                    try await connection.sendUploadHead(token: token, "Content-Length: \(body.utf8.count)")
                    try await connection.send(body)
                    try await connection.expectRefusal(400, about: body, closes: false)
                }
            }
            try await service.expectNothingStored()
        }
    }

    @Test("A body that is wrong at its beginning is refused, perhaps before its end has come")
    func malformedBeginning() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for body in [Self.whole.replacing("\r\n", with: "\n"), "--\(TestMultipart.boundary)\r\n\r\n"] {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.sendUploadHead(token: token, "Content-Length: \(body.utf8.count)")
                    try await connection.send(body)
                    #expect(try await connection.readResponse()?.status == 400, "\(body)")
                }
            }
            try await service.expectNothingStored()
        }
    }

    @Test("500 connections that are opened and dropped, silent or in the middle of a request, affect no others")
    func drops() async throws {
        try await TestService.run { service in
            let beginnings = [
                "", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\n\r\n",
                "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc",
            ]
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for index in 0..<500 {
                    if index >= 100 { try await tasks.next() }
                    tasks.addTask {
                        try await RawConnection.open(port: service.port) { try await $0.send(beginnings[index % 5]) }
                    }
                }
                try await tasks.waitForAll()
            }
            #expect(try await service.send("GET", "/").status == 200)
            // The last one's may be kept for the next request.
            try await poll("no connection is left") { try SocketTable.openCount(at: service.port) <= 1 }
        }
    }
}
