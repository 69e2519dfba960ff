import Multipart

extension FuzzTarget {
    /// A body gives the same result however it is cut, and no more bytes than it has.
    ///
    /// The first byte decides on the cuts and on the boundary.
    static func readMultipart(_ bytes: [UInt8]) throws {
        guard let first = bytes.first else { return }
        let name = first < 128 ? "b" : "---------------------------14737809831466499882746641449"
        let boundary = try MultipartBoundary(contentType: "multipart/form-data; boundary=\"\(name)\"")
        let body = Array(bytes.dropFirst())
        let whole = MultipartOutcome(of: body, in: max(body.count, 1), boundary: boundary)
        let parts = MultipartOutcome(of: body, in: Int(first % 16) + 1, boundary: boundary)
        try require(whole == parts, "the same however it is cut")
        try require(whole.contents.reduce(0) { $0 + $1.count } <= body.count, "no invented bytes")
        try require(whole.contents.count <= MultipartOutcome.limits.maxPartCount, "no more parts than allowed")
        // As the client would send it in its header.
        if let text = String(validating: body.prefix(256), as: UTF8.self) {
            _ = try? MultipartBoundary(contentType: text)
        }
    }
}

/// What a body came to.
private struct MultipartOutcome: Equatable {
    var parts: [MultipartPart] = []
    var contents: [[UInt8]] = []
    var endCount = 0
    var error: MultipartError?

    static let limits = MultipartLimits(
        maxFileBytes: 1024,
        maxPartCount: 8,
        maxHeaderBytes: 512,
        maxFieldBytes: 256,
        maxPreambleBytes: 64
    )

    init(of body: [UInt8], in chunkSize: Int, boundary: MultipartBoundary) {
        var parser = MultipartParser(boundary: boundary, limits: Self.limits)
        do throws(MultipartError) {
            for start in stride(from: 0, to: body.count, by: chunkSize) {
                let chunk = Array(body[start..<min(start + chunkSize, body.count)])
                var events: [MultipartEvent] = []
                defer { collect(events, of: chunk) }
                try parser.push(chunk.span.bytes, into: &events)
            }
            try parser.finish()
        } catch {
            self.error = error
        }
    }

    private mutating func collect(_ events: [MultipartEvent], of chunk: [UInt8]) {
        for event in events {
            switch event {
            case .partBegin(let part):
                parts.append(part)
                contents.append([])
            case .partBytes(let range): contents[contents.count - 1] += chunk[range]
            case .heldBytes(let held): contents[contents.count - 1] += held
            case .partEnd: endCount += 1
            }
        }
    }
}
