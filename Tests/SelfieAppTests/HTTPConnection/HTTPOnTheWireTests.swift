import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import Testing

@Suite("HTTP on the wire", .timeLimit(.minutes(2)))
struct HTTPOnTheWireTests {
    private static let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("A connection serves many requests")
    func keepAlive() async throws {
        try await TestService.run { service in
            try await RawConnection.open(port: service.port) { connection in
                for _ in 0..<100 {
                    try await connection.send(Self.get)
                    let answer = try #require(try await connection.readResponse())
                    #expect(answer.text == "Glad to find you here!")
                    #expect(answer.headers["connection"] == nil)
                }
            }
        }
    }

    @Test("A request that names the whole URL is taken for its path")
    func absoluteForm() async throws {
        try await TestService.run { service in
            try await RawConnection.open(port: service.port) { connection in
                for target in ["http://localhost/", "http://localhost", "HTTP://other.example:81/?a=b", "/?http://a"] {
                    try await connection.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    let answer = try #require(try await connection.readResponse())
                    #expect(answer.text == "Glad to find you here!", "\(target)")
                }
            }
        }
    }

    @Test("The connection ends after a request to change the protocol, since it could read no other request")
    func upgrade() async throws {
        let http2 = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
        try await TestService.run { service in
            for fields in [http2, "Upgrade: x\r\n"] {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.send("GET / HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
                    let answer = try #require(try await connection.readResponse())
                    #expect(answer.status == 200)
                    #expect(answer.headers["connection"] == "close")
                    #expect(try await connection.readToEnd().isEmpty)
                }
            }
        }
    }

    @Test("After a refusal of a whole request, the connection stays open")
    func keepAliveAfterRefusal() async throws {
        try await TestService.run { service in
            try await RawConnection.open(port: service.port) { connection in
                for _ in 0..<10 {
                    try await connection.send("GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    try await connection.expectRefusal(404, closes: false)
                    try await connection.send(
                        "POST /api/signup HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(TestService.basic)\r\n"
                            + "Content-Length: 3\r\n\r\na=b"
                    )
                    try await connection.expectRefusal(400, closes: false)
                }
            }
        }
    }

    @Test("Pipelined requests are answered in their order")
    func pipelining() async throws {
        try await TestService.run { service in
            for count in [2, 3, 20] {
                try await RawConnection.open(port: service.port) { connection in
                    let requests = (0..<count).map {
                        "GET /\($0 % 2 == 0 ? "" : "nowhere") HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: \($0)\r\n\r\n"
                    }
                    try await connection.send(requests.joined())
                    for index in 0..<count {
                        let answer = try #require(try await connection.readResponse())
                        #expect(answer.status == (index % 2 == 0 ? 200 : 404))
                        #expect(answer.headers["x-request-id"] == "\(index)")
                    }
                    try await connection.send(Self.get)
                    #expect(try await connection.readResponse()?.status == 200)
                }
            }
        }
    }

    @Test("A request may arrive byte by byte")
    func byteByByte() async throws {
        try await TestService.run { service in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.trickle(Data(Self.get.utf8), pause: .zero).value
                #expect(try await connection.readResponse()?.status == 200)
            }
        }
    }

    @Test("The connection ends after an answer when the client asks for it")
    func connectionClose() async throws {
        try await TestService.run { service in
            for field in ["Connection: close", "connection: Close", "Connection: keep-alive, close"] {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.send("GET / HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n\r\n")
                    let answer = try #require(try await connection.readResponse())
                    #expect(answer.status == 200)
                    #expect(answer.headers["connection"] == "close", "\(field)")
                    #expect(try await connection.readToEnd().isEmpty)
                }
            }
        }
    }

    @Test("A request of HTTP/1.0 is answered, and the connection ends")
    func http10() async throws {
        try await TestService.run { service in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send("GET / HTTP/1.0\r\n\r\n")
                let answer = String(decoding: try await connection.readToEnd(), as: UTF8.self)
                #expect(answer.contains("200 OK\r\n"))
                #expect(answer.hasSuffix("\r\n\r\nGlad to find you here!"))
            }
        }
    }

    @Test("A client that closes its sending side after a request still gets the answer")
    func halfClosed() async throws {
        try await TestService.run { service in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send(Self.get)
                connection.finish()
                #expect(try await connection.readResponse()?.status == 200)
                #expect(try await connection.readToEnd().isEmpty)
            }
        }
    }

    @Test("A header at the limit is taken, and a longer one is refused in JSON")
    func headerBytes() async throws {
        try await TestService.run { service in
            for (count, status) in [(16_361, 200), (16_362, 431), (160_000, 431)] {
                try await RawConnection.open(port: service.port) { connection in
                    // With the target and the fields' names and values, 16 KiB and one byte more.
                    let field = "X-Padding: \(String(repeating: "x", count: count))\r\n"
                    try await connection.send("GET / HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n")
                    if status == 200 {
                        #expect(try await connection.readResponse()?.status == 200)
                    } else {
                        try await connection.expectRefusal(431)
                    }
                }
            }
        }
    }

    @Test("Many small header fields and a long URL are refused like one large field")
    func headerShapes() async throws {
        try await TestService.run { service in
            let fields = (0..<90).map { "X-\($0): \(String(repeating: "x", count: 300))\r\n" }.joined()
            for head in [
                "GET / HTTP/1.1\r\n\(fields)", "GET /\(String(repeating: "x", count: 20_000)) HTTP/1.1\r\n",
                "GET / HTTP/1.1\r\n\(String(repeating: "x", count: 20_000)): y\r\n",
            ] {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.send("\(head)Host: localhost\r\n\r\n")
                    try await connection.expectRefusal(431)
                }
            }
        }
    }

    @Test("As many header fields as the limit are taken, and one more is refused")
    func headerFields() async throws {
        try await TestService.run { service in
            for (count, status) in [
                (100, 200), (101, 431),
            ] {
                try await RawConnection.open(port: service.port) { connection in
                    let fields = (1..<count).map { "X-\($0): y\r\n" }.joined()
                    try await connection.send("GET / HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
                    if status == 200 {
                        #expect(try await connection.readResponse()?.status == 200)
                    } else {
                        try await connection.expectRefusal(431)
                    }
                }
            }
        }
    }

    private static let notHTTP = [
        "\r\n\r\nhello\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / FTP/1.1\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", "SSH-2.0-OpenSSH_9.2\r\n", "{\"json\":1}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost localhost\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX-A: \u{0}\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\u{7F} HTTP/1.1\r\nHost: a\r\n\r\n", "GET /ü HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /?name=😀 HTTP/1.1\r\nHost: a\r\n\r\n", "GÉT / HTTP/1.1\r\nHost: a\r\n\r\n",
    ]

    @Test("Malformed requests are refused in JSON")
    func notHTTP() async throws {
        try await TestService.run { service in
            for text in Self.notHTTP {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.send(text)
                    try await connection.expectRefusal(400, about: text)
                }
            }
            #expect(try await service.send("GET", "/").status == 200)
        }
    }

    @Test("Garbage after an answered request closes the connection, and the answer still arrives")
    func garbageLater() async throws {
        try await TestService.run { service in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send(Self.get)
                #expect(try await connection.readResponse()?.status == 200)
                try await connection.send("\u{1}\u{2}garbage\r\n\r\n")
                try await connection.expectRefusal(400)
            }
        }
    }
}
