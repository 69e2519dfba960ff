package import ConnectionTestSupport
import Foundation

/// An event of a stream, or a comment.
package struct ServerEvent: Sendable {
    /// Empty for a comment, and for what names only a time.
    package var name = ""
    package var isComment = false
    package var id: String?
    package var data = ""
    /// The time that the server names for coming again, in milliseconds.
    package var retry: Int?

    package var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(data.utf8))) as? [String: Any] ?? [:]
    }

    /// Such as `created houses h1`; the name and the reason of other events.
    package var summary: String {
        guard name == "change" else { return [name, json["reason"] as? String ?? ""].joined(separator: " ") }
        return ["type", "collection", "id"].compactMap { json[$0] as? String }.joined(separator: " ")
    }
}

/// A client that reads a stream of events over a connection of its own.
package struct EventClient {
    package private(set) var connection: RawConnection
    /// The answer's head, once it has come.
    package private(set) var head = ""
    /// When the answer's head has come; nil before.
    private(set) var headTime: Date?
    /// The id of the last event.
    package private(set) var lastID: String?
    /// How many comments came, each with a blank line behind it.
    package private(set) var commentCount = 0
    /// All bytes that came, as text.
    package private(set) var received = ""
    private var raw = Data()
    private var text = Data()
    private var hasEnded = false

    /// The answer without its body; nil until its head has come.
    var answer: HTTPAnswer? { try? HTTPAnswer.parse(Data("\(head)\r\n\r\n".utf8), isHead: true).answer }

    /// Runs a body with a stream of events.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - member: Whose changes.
    ///   - query: Such as `?since=now`.
    ///   - headers: More headers of the request.
    ///   - body: Reads events.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    package static func open<Result: Sendable>(
        _ service: TestService,
        as member: TestMember,
        _ query: String = "",
        headers: [String] = [],
        _ body: (inout EventClient) async throws -> Result
    ) async throws -> Result {
        try await RawConnection.open(port: service.port) { connection in
            let lines =
                [
                    "GET /api/changes\(query) HTTP/1.1", "Host: 127.0.0.1", "Accept: text/event-stream",
                    "Accept-Encoding: gzip",
                    "Authorization: Bearer \(member.token)",
                ] + headers
            try await connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
            var client = EventClient(connection: connection)
            return try await body(&client)
        }
    }

    /// The next event but for comments; nil when the stream has ended.
    package mutating func next() async throws -> ServerEvent? {
        while true {
            if let event = takeEvent() {
                if event.isComment { commentCount += 1 }
                if let id = event.id { lastID = id }
                if !event.name.isEmpty { return event }
                continue
            }
            if hasEnded { return nil }
            let bytes = try await connection.readSome()
            if bytes.isEmpty { return nil }
            raw += bytes
            received += String(decoding: bytes, as: UTF8.self)
            if head.isEmpty, let end = raw.range(of: Data("\r\n\r\n".utf8)) {
                head = String(decoding: raw[..<end.lowerBound], as: UTF8.self)
                headTime = Date()
                raw = Data(raw[end.upperBound...])
            }
            if !head.isEmpty { takeChunks() }
        }
    }

    /// The summaries of events up to one of a name, which is the last of them.
    package mutating func summaries(until name: String) async throws -> [String] {
        var summaries: [String] = []
        while let event = try await next() {
            summaries.append(event.summary)
            if event.name == name || event.summary == name { break }
        }
        return summaries
    }

    /// The next event of a name; nil when the stream has ended before.
    package mutating func event(named name: String) async throws -> ServerEvent? {
        while let event = try await next() {
            if event.name == name { return event }
        }
        return nil
    }

    private mutating func takeChunks() {
        while let end = raw.range(of: Data("\r\n".utf8)),
            let length = Int(String(decoding: raw[raw.startIndex..<end.lowerBound], as: UTF8.self), radix: 16),
            raw.endIndex - end.upperBound >= length + 2
        {
            if length == 0 { hasEnded = true }
            text += raw[end.upperBound..<end.upperBound + length]
            raw = Data(raw[(end.upperBound + length + 2)...])
        }
    }

    private mutating func takeEvent() -> ServerEvent? {
        guard let end = text.range(of: Data("\n\n".utf8)) else { return nil }
        var event = ServerEvent()
        for line in String(decoding: text[text.startIndex..<end.lowerBound], as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix(":") { event.isComment = true }
            let parts = line.split(separator: ": ", maxSplits: 1).map { String($0) }
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "event": event.name = parts[1]
            case "id": event.id = parts[1]
            case "data": event.data += parts[1]
            case "retry": event.retry = Int(parts[1])
            default: break
            }
        }
        text = Data(text[end.upperBound...])
        return event
    }
}
