import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

extension TestService {
    /// Exports all that a token's user has.
    func export(_ token: String, method: String = "GET") async throws -> HTTPAnswer {
        try await send(method, "/api/export", headers: [("Authorization", tokenHeader(token))])
    }

    /// Puts photos of a user into table and store behind the service's back.
    ///
    /// - Parameters:
    ///   - photos: Their titles and bytes.
    ///   - name: What the e-mail of their owner begins with.
    /// - Returns: Their ids.
    /// - Throws: `PostgresError`, `S3Error`, or an error of Foundation's.
    @discardableResult
    func addPhotos(_ photos: [(title: String, bytes: Data)], name: String = "ada") async throws -> [String] {
        var ids: [String] = []
        for (number, photo) in photos.enumerated() {
            let id = String("\(name)\(number)".padding(toLength: 43, withPad: "x", startingAt: 0))
            try await objects.write(photo.bytes, key: id)
            try await postgres.write(
                """
                INSERT INTO photos (user_id, name, title, random_id, content_type, byte_count, state)
                SELECT id, 'photo', \(photo.title), \(id), 'image/png', \(photo.bytes.count), 'ready' FROM users
                WHERE email = \("\(name)@example.com")
                """
            )
            ids.append(id)
        }
        return ids
    }
}

/// A client that has asked for an export, and reads it as slowly as a test wants.
struct ExportReader {
    private var connection: RawConnection
    private var received: Data
    private var failure: (any Error)?

    /// Runs a body with a client that has read the first bytes.
    ///
    /// The system takes little for it, so the service waits when nobody reads.
    static func open<Result: Sendable>(
        _ service: TestService,
        token: String,
        _ body: (inout ExportReader) async throws -> Result
    ) async throws -> Result {
        try await RawConnection.open(port: service.port, receiveBufferBytes: 4_096) { connection in
            try await connection.send(
                """
                GET /api/export HTTP/1.1\r
                Host: 127.0.0.1\r
                Authorization: Token token=\(token)\r
                Connection: close\r
                \r

                """
            )
            let start = try await connection.readSome()
            #expect(start.starts(with: Data("HTTP/1.1 200 ".utf8)), "\(String(decoding: start, as: UTF8.self))")
            var reader = ExportReader(connection: connection, received: start)
            return try await body(&reader)
        }
    }

    private init(connection: RawConnection, received: Data) {
        self.connection = connection
        self.received = received
    }

    /// How many bytes came.
    var receivedCount: Int { received.count }

    /// How far it came, for the message of a test that needs the whole.
    var progress: String { "\(received.count) bytes came\(failure.map { ", and then \($0)" } ?? "")" }

    /// Reads the rest.
    ///
    /// - Returns: The archive; nil when the answer did not come to its end.
    mutating func readToEnd() async throws -> Data? {
        do { received += try await connection.readToEnd() } catch { failure = error }
        guard let end = received.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        var (body, rest) = (Data(), received[end.upperBound...])
        // RFC 9112, section 7.1: each chunk has its length in front of it.
        while let line = rest.range(of: Data("\r\n".utf8)) {
            guard let length = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16) else { break }
            if length == 0 { return body }
            guard rest[line.upperBound...].count >= length + 2 else { break }
            body += rest[line.upperBound...].prefix(length)
            rest = rest[line.upperBound...].dropFirst(length + 2)
        }
        return nil
    }
}
