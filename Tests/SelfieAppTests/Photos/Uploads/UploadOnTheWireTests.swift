import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

@Suite("Uploads on the wire", .timeLimit(.minutes(2)))
struct UploadOnTheWireTests {
    private static let body = TestMultipart.body(image: TestImage.jpeg, title: "A photo")

    private func withToken(_ body: @Sendable (TestService, String) async throws -> Void) async throws {
        try await TestService.run(
            settings: ["UPLOAD_BYTES_MAX": "1000000"],
            adjust: {
                $0.limits.tick = .milliseconds(50)
                $0.limits.lingerTimeout = .seconds(30)
            }
        ) {
            try await body($0, try await $0.makeToken())
        }
    }

    @Test("A client that waits for leave to send its photo gets it, and uploads")
    func continues() async throws {
        try await withToken { service, token in
            try await RawConnection.open(port: service.port) { connection in
                for _ in 0..<2 {
                    try await connection.sendUploadHead(
                        token: token,
                        "Content-Length: \(Self.body.count)",
                        "Expect: 100-continue"
                    )
                    #expect(try await connection.readResponse()?.status == 100)
                    try await connection.send(Self.body)
                    let answer = try #require(try await connection.readResponse())
                    #expect(answer.status == 200, "\(answer.text)")
                }
            }
            #expect(service.objects.keys().count == 2)
        }
    }

    @Test("A client that does not wait for 100 Continue gets none")
    func impatient() async throws {
        try await withToken { service, token in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.sendUploadHead(token: token, "Content-Length: \(Self.body.count)")
                try await connection.send(Self.body)
                #expect(try await connection.readResponse()?.status == 200)
            }
        }
    }

    @Test("A request that will be refused gets its answer instead of leave")
    func refusedEarly() async throws {
        try await withToken { service, token in
            let multipart = "Content-Type: multipart/form-data; boundary=\(TestMultipart.boundary)"
            for (token, status, fields) in [
                ("wrong", 401, "\(multipart)\r\nContent-Length: 1000"),
                (token, 413, "\(multipart)\r\nContent-Length: 2147483648"),
                (token, 413, "\(multipart)\r\nContent-Length: 1600000"),
                (token, 400, "Content-Type: text/plain\r\nContent-Length: 1000"),
            ] {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.send(
                        "POST /api/upload_photo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                            + "Authorization: Token token=\(token)\r\n\(fields)\r\n\r\n"
                    )
                    try await connection.expectRefusal(status, about: fields)
                }
            }
            try await service.expectNothingStored()
        }
    }

    @Test("Two gigabytes are refused by their announcement, without the body")
    func hugeLength() async throws {
        try await withToken { service, token in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.sendUploadHead(token: token, "Content-Length: 2147483648")
                try await connection.expectRefusal(413)
            }
            try await service.expectNothingStored()
        }
    }

    @Test("A length beyond all numbers is refused")
    func absurdLength() async throws {
        try await withToken { service, token in
            for length in ["99999999999999999999999999", "18446744073709551615", "9223372036854775808"] {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.sendUploadHead(token: token, "Content-Length: \(length)")
                    let answer = try #require(try await connection.readResponse())
                    #expect([400, 413].contains(answer.status), "\(length)")
                    #expect(answer.message != nil)
                }
            }
            try await service.expectNothingStored()
        }
    }

    @Test("A client that keeps sending after its refusal can read it")
    func keepsSending() async throws {
        try await withToken { service, token in
            for (token, status) in [("wrong", 401), (token, 413)] {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.sendUploadHead(token: token, "Content-Length: 20000000")
                    for _ in 0..<20 { try await connection.send(Data(repeating: 0x61, count: 1_000_000)) }
                    try await connection.expectRefusal(status)
                }
            }
            try await service.expectNothingStored()
        }
    }

    @Test("A chunked upload is taken at the limit and refused one byte past it")
    func chunked() async throws {
        try await withToken { service, token in
            for (count, status) in [(1_000_000, 200), (1_000_001, 413), (5_000_000, 413)] {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.sendUploadHead(token: token, "Transfer-Encoding: chunked")
                    let body = TestMultipart.body(image: TestImage.png(bytes: count), title: "Chunked")
                    for start in stride(from: 0, to: body.count, by: 70_000) {
                        let chunk = body[start..<min(start + 70_000, body.count)]
                        try await connection.send(String(chunk.count, radix: 16) + "\r\n")
                        try await connection.send(chunk + Data("\r\n".utf8))
                    }
                    try await connection.send("0\r\n\r\n")
                    let answer = try #require(try await connection.readResponse())
                    #expect(answer.status == status, "\(answer.text)")
                }
            }
            #expect(service.objects.keys().count == 1)
            #expect(try await service.count("SELECT count(*) FROM photos") == 1)
        }
    }

    /// A body's beginning that is over a limit, though its end has not come and never comes.
    enum Endless: CaseIterable {
        case file, preamble, field, epilogue

        /// The limit is 1,000,000 bytes for a photo, and 524,288 more for all around it.
        var beginning: Data {
            let part = "--\(TestMultipart.boundary)\r\nContent-Disposition: form-data; name=a\r\n\r\n"
            switch self {
            case .file:
                let body = TestMultipart.body(image: TestImage.png(bytes: 1_000_500), title: "A")
                return body.prefix(1_000_400)
            case .preamble: return Data(repeating: 0x20, count: 100_000)
            case .field: return Data(part.utf8) + Data(repeating: 0x61, count: 100_000)
            case .epilogue:
                let body = TestMultipart.body(image: TestImage.jpeg, title: "A")
                return body + Data(repeating: 0x20, count: 1_524_289 - body.count)
            }
        }

        /// What announces 100,000 bytes more than come; the length of a body that is too long is refused at once.
        var framings: [String] {
            let chunked = "Transfer-Encoding: chunked"
            return self == .epilogue ? [chunked] : [chunked, "Content-Length: \(beginning.count + 100_000)"]
        }
    }

    @Test("An upload is refused as soon as it is over its limit, before the rest has come", arguments: Endless.allCases)
    func endless(body: Endless) async throws {
        try await withToken { service, token in
            let bytes = body.beginning
            for framing in body.framings {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.sendUploadHead(token: token, framing)
                    if framing.contains("chunked") {
                        try await connection.send("\(String(bytes.count + 100_000, radix: 16))\r\n")
                    }
                    try await connection.send(bytes)
                    try await connection.expectRefusal(413, about: framing)
                }
            }
            try await service.expectNothingStored()
        }
    }

    @Test("A chunked body that is no chunked body is refused")
    func badChunks() async throws {
        try await withToken { service, token in
            for text in ["xyz\r\n", "-1\r\n", "5\r\nabcdefgh\r\n", "fffffffffffffffff\r\n"] {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.sendUploadHead(token: token, "Transfer-Encoding: chunked")
                    try await connection.send(text)
                    try await connection.expectRefusal(400, about: text)
                }
            }
            try await service.expectNothingStored()
        }
    }

    @Test("A parameter body over its limit is refused, announced or not, before its end has come")
    func largeParameters() async throws {
        try await TestService.run { service in
            let size = 16 * 1024 + 1
            let chunk = "\(String(size + 1000, radix: 16))\r\n\(String(repeating: "a", count: size))"
            let multipart = "multipart/form-data; boundary=x"
            for type in ["application/json", "application/x-www-form-urlencoded", multipart] {
                for (framing, body) in [("Content-Length: \(size)", ""), ("Transfer-Encoding: chunked", chunk)] {
                    try await RawConnection.open(port: service.port) { connection in
                        try await connection.send(
                            "POST /api/signup HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(TestService.basic)\r\n"
                                + "Content-Type: \(type)\r\n\(framing)\r\n\r\n\(body)"
                        )
                        let answer = try await connection.expectRefusal(413, about: framing)
                        #expect(answer.message == "The request is too large (maximum is 16384 bytes)")
                    }
                }
            }
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
        }
    }

    @Test("A parameter body at its limit is read", arguments: [16 * 1024, 16 * 1024 + 1])
    func parametersAtTheLimit(size: Int) async throws {
        try await TestService.run { service in
            let start = "email=nobody@example.com&password="
            let body = start + String(repeating: "a", count: size - start.utf8.count)
            for isChunked in [false, true] {
                try await RawConnection.open(port: service.port) { connection in
                    let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(size)"
                    try await connection.send(
                        "POST /api/signin HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(TestService.basic)\r\n"
                            + "Content-Type: application/x-www-form-urlencoded\r\n\(framing)\r\n\r\n"
                    )
                    let chunk = "\(String(size, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
                    try await connection.send(isChunked ? chunk : body)
                    let answer = try #require(try await connection.readResponse())
                    #expect((answer.status == 413) == (size > 16 * 1024), "\(answer.text)")
                }
            }
        }
    }
}
