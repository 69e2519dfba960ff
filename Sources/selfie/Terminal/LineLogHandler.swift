import FoundationEssentials
import Glibc
import Logging
import Synchronization

/// Writes each event as one line of text to standard output, where platforms collect them.
///
/// Nobody who logs waits for that: see ``LogWriter``.
///
///     2026-11-21T08:18:25Z info request duration_ms=4.4 method=GET request_id=… route=/api/get_photos status=200
///
/// swift-log's own `StreamLogHandler` asks the system for its time zone with each line. That is slow for a service with
/// a line for each request.
struct LineLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info

    private static let timestamp = Mutex((second: 0, text: ""))

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        Self.standardOutput.write(Self.line(of: event, with: metadata, at: Self.timestamp(of: time(nil))))
    }

    private static let standardOutput: LogWriter = {
        // The last lines say why a process ends. Nobody may read them.
        atexit { LineLogHandler.standardOutput.flush(within: .seconds(1)) }
        return LogWriter(descriptor: STDOUT_FILENO, lossLine: lossLine)
    }()

    /// The line that tells how many lines were lost.
    static func lossLine(count: Int) -> [UInt8] {
        let event = LogEvent(
            level: .warning,
            message: "lines of the log were lost, since nobody took them",
            metadata: ["count": "\(count)"],
            source: nil,
            file: #fileID,
            function: #function,
            line: #line
        )
        return line(of: event, with: [:], at: timestamp(of: time(nil)))
    }

    /// One line.
    ///
    /// Control characters become spaces, so that no value can begin another line.
    static func line(of event: LogEvent, with metadata: Logger.Metadata, at timestamp: String) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(usualLineBytes)
        func append(_ text: String) { line.append(contentsOf: text.utf8) }
        append(timestamp)
        append(" ")
        append(event.level.rawValue)
        append(" ")
        append(event.message.description)
        for (key, value) in entries(of: event, with: metadata) {
            append(" ")
            append(key)
            append("=")
            append(value.description)
        }
        for index in line.indices where line[index] < 0x20 || line[index] == 0x7F { line[index] = UInt8(ascii: " ") }
        append("\n")
        return line
    }

    /// A little more than a line about a request takes.
    private static let usualLineBytes = 256

    /// The handler's metadata and the event's, which win, sorted by key.
    private static func entries(
        of event: LogEvent,
        with metadata: Logger.Metadata
    ) -> [(key: String, value: Logger.Metadata.Value)] {
        var entries = Array(metadata)
        if let own = event.metadata {
            entries.removeAll { own[$0.key] != nil }
            entries.append(contentsOf: own)
        }
        entries.sort { $0.key < $1.key }
        return entries
    }

    private static func timestamp(of second: Int) -> String {
        timestamp.withLock { cached in
            if cached.second != second {
                let date = Date(timeIntervalSince1970: TimeInterval(second))
                cached = (second, date.formatted(.iso8601))
            }
            return cached.text
        }
    }
}
