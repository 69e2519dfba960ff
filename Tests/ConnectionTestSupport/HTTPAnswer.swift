package import Foundation

/// An answer as a client sees it.
package struct HTTPAnswer: Sendable {
    package let status: Int
    /// Names in lower case.
    package let headers: [String: String]
    package let body: Data

    package init(status: Int, headers: [String: String], body: Data) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as a JSON object; empty when it is none.
    package var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:]
    }

    /// The body as a JSON array of objects; nil when it is none.
    package var jsonArray: [[String: Any]]? {
        (try? JSONSerialization.jsonObject(with: body)) as? [[String: Any]]
    }

    /// The string member `message` that the reference client shows.
    ///
    /// DreamFactory's routes have it in a list of errors.
    package var message: String? {
        (json["message"] ?? (json["error"] as? [[String: Any]])?.first?["message"]) as? String
    }

    /// Reads an answer with a `Content-Length`, or without a body, from the front of some bytes.
    ///
    /// - Parameters:
    ///   - bytes: What a connection gave so far.
    ///   - isHead: Whether no body follows.
    /// - Returns: The answer and how many bytes it took; no answer and how many bytes it needs at least, while it is
    ///   not complete.
    /// - Throws: `HTTPAnswerError`.
    package static func parse(_ bytes: Data, isHead: Bool) throws -> (answer: HTTPAnswer?, length: Int) {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return (nil, bytes.count + 1) }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw HTTPAnswerError(firstLine: lines[0])
        }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let name = line.prefix { $0 != ":" }
            headers[name.lowercased()] = line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
        }
        let hasBody = !isHead && status >= 200 && status != 204 && status != 304
        let length = hasBody ? headers["content-length"].flatMap { Int($0) } ?? 0 : 0
        let total = end.upperBound + length
        guard bytes.count >= total else { return (nil, total) }
        let answer = HTTPAnswer(status: status, headers: headers, body: Data(bytes[end.upperBound..<total]))
        return (answer, total)
    }
}

/// What came is no HTTP response.
package struct HTTPAnswerError: Error {
    let firstLine: String
}
