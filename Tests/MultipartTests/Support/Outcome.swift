import Multipart
import Testing

/// What a body came to, with the contents of each part put together again.
struct Outcome: Equatable {
    struct Part: Equatable {
        var part: MultipartPart
        var bytes: [UInt8] = []
        var isComplete = false
    }

    var parts: [Part] = []
    var error: MultipartError?

    var byteCount: Int {
        parts.reduce(0) { $0 + $1.bytes.count }
    }

    /// Parses a body that arrives in pieces, and checks on the way what holds for every body: the
    /// order of the events, their offsets, and that an error stays.
    init(of body: [UInt8], boundary: MultipartBoundary, limits: MultipartLimits, cuts: some Sequence<Int>) {
        var parser = MultipartParser(boundary: boundary, limits: limits)
        do throws(MultipartError) {
            var start = 0
            for end in Array(cuts) + [body.count] {
                let chunk = body[start..<end]
                var events: [MultipartEvent] = []
                defer { collect(events, of: Array(chunk)) }
                try parser.push(chunk.span.bytes, into: &events)
                start = end
            }
            try parser.finish()
        } catch {
            self.error = error
            checkThatFailureStays(parser, error)
        }
    }

    // Plain conditions and no `#expect`: this runs some hundred thousand times.
    private mutating func collect(_ events: [MultipartEvent], of chunk: [UInt8]) {
        var reported = 0
        for event in events {
            guard event.isBegin != (parts.last?.isComplete == false) else {
                Issue.record("out of order: \(event)")
                return
            }
            var isSound = true
            switch event {
            case .partBegin(let part):
                parts.append(Part(part: part))
            case .partBytes(let range):
                isSound = !range.isEmpty && range.lowerBound >= reported && range.upperBound <= chunk.count
                reported = range.upperBound
                parts[parts.count - 1].bytes += chunk[range]
            case .heldBytes(let bytes):
                isSound = !bytes.isEmpty && bytes.count < 140 && reported == 0
                parts[parts.count - 1].bytes += bytes
            case .partEnd:
                parts[parts.count - 1].isComplete = true
            }
            if !isSound { Issue.record("unsound: \(event)") }
        }
    }
}

private func checkThatFailureStays(_ failed: MultipartParser, _ first: MultipartError) {
    var parser = failed
    var events: [MultipartEvent] = []
    // Nil stands for the end of the body.
    for chunk in [[], lines("", "--b--"), nil] {
        do throws(MultipartError) {
            if let chunk { try parser.push(chunk.span.bytes, into: &events) } else { try parser.finish() }
            Issue.record("went on after \(first)")
        } catch {
            if error != first { Issue.record("\(first) became \(error)") }
        }
    }
    if !events.isEmpty { Issue.record("went on after \(first)") }
}

extension MultipartEvent {
    fileprivate var isBegin: Bool {
        if case .partBegin = self { true } else { false }
    }
}

extension Outcome.Part {
    /// A complete text part.
    static func field(_ name: String, _ text: String, contentType: String? = nil) -> Self {
        Self(part: MultipartPart(name: name, contentType: contentType), bytes: Array(text.utf8), isComplete: true)
    }

    /// A complete file.
    static func file(_ name: String, _ filename: String, _ bytes: [UInt8], contentType: String? = nil) -> Self {
        Self(
            part: MultipartPart(name: name, filename: filename, contentType: contentType),
            bytes: bytes,
            isComplete: true
        )
    }
}
