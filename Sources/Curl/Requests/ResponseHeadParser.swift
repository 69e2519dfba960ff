import NIOHTTP1

/// Reads the lines of an answer's head, one by one, as libcurl passes them.
///
/// It does no I/O. Heads of informational answers (1xx) are passed over.
package struct ResponseHeadParser: Sendable {
    /// The most bytes of a head, informational ones before it included.
    package static let maxBytes = 64 * 1_024

    private var byteCount = 0
    private var status: HTTPResponseStatus?
    private var headers = HTTPHeaders()
    private var isDone = false

    package enum Step: Equatable {
        /// More lines follow.
        case more
        /// The head is complete.
        case head(ResponseHead)
        /// The head is too large.
        case tooLarge
        /// This is not the head of an HTTP answer.
        case malformed
    }

    package init() {}

    /// Reads the next line, with its end.
    package mutating func read(line: some Collection<UInt8>) -> Step {
        // Trailers of a body in chunks.
        if isDone { return .more }
        byteCount += line.count
        guard byteCount <= Self.maxBytes else { return .tooLarge }
        let text = line.reversed().drop { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.reversed()
        if text.isEmpty { return end() }
        if text.starts(with: "HTTP/".utf8) {
            // A new head begins, after an informational one.
            headers = HTTPHeaders()
            guard let code = Self.statusCode(text) else { return .malformed }
            status = HTTPResponseStatus(statusCode: code)
            return .more
        }
        guard status != nil else { return .malformed }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > text.startIndex else { return .malformed }
        // NIO ends the process for another name.
        guard text[..<colon].allSatisfy({ (0x21...0x7E).contains($0) }) else { return .malformed }
        let name = String(decoding: text[..<colon], as: UTF8.self)
        let value = text[text.index(after: colon)...]
        headers.add(name: name, value: String(decoding: Self.trimmed(value), as: UTF8.self))
        return .more
    }

    private mutating func end() -> Step {
        guard let status else { return .malformed }
        if (100..<200).contains(status.code) {
            self.status = nil
            return .more
        }
        isDone = true
        return .head(ResponseHead(status: status, headers: headers))
    }

    /// The code of a status line such as `HTTP/1.1 200 OK` (RFC 9112, section 4).
    private static func statusCode(_ line: some Collection<UInt8>) -> Int? {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: true)
        guard parts.count >= 2, parts[1].count == 3, let code = Int(String(decoding: parts[1], as: UTF8.self)) else {
            return nil
        }
        return (100..<1_000).contains(code) ? code : nil
    }

    private static func trimmed<Text: BidirectionalCollection>(_ text: Text) -> Text.SubSequence
    where Text.Element == UInt8 {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let start = text.firstIndex { !isBlank($0) } ?? text.endIndex
        guard let last = text.lastIndex(where: { !isBlank($0) }), start <= last else { return text[start..<start] }
        return text[start...last]
    }
}
