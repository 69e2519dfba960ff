import FoundationEssentials
import Glibc
import Logging
import SelfieConfiguration
import Synchronization

/// Writes each event as one line to standard output, where platforms collect them.
///
/// Code that logs does not wait for that: see ``LogWriter``.
///
///     time=2026-11-23T08:18:25Z level=info msg=request bytes=912 endpoint=/api/get_photos method=GET ms=4.4 …
///     {"time":"2026-11-23T08:18:25Z","level":"info","msg":"request","bytes":912,"endpoint":"/api/get_photos",…}
///
/// swift-log's own `StreamLogHandler` asks the system for its time zone with each line. That is slow for a service with
/// a line for each request.
struct LineLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info
    private let style: LogLine.Style

    typealias Style = LogLine.Style

    private static let timestamp = Mutex((second: 0, text: ""))

    init(style: Style) {
        self.style = style
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let line = LogLine(event, metadata: metadata, time: Self.timestamp(of: time(nil)))
        Self.standardOutput(style).write(line.bytes(style))
    }

    private static let writer = Mutex<LogWriter?>(nil)

    /// The writer of all handlers, which are of one style.
    private static func standardOutput(_ style: Style) -> LogWriter {
        writer.withLock { writer in
            if let writer { return writer }
            // The last lines say why a process ends. There may be no reader, so this has a limit.
            atexit { LineLogHandler.writer.withLock { $0 }?.flush(within: .seconds(1)) }
            let new = LogWriter(descriptor: STDOUT_FILENO) { lossLine(count: $0).bytes(style) }
            writer = new
            return new
        }
    }

    /// The line that says how many lines were dropped.
    static func lossLine(count: Int) -> LogLine {
        let event = LogEvent(
            level: .warning,
            message: "lines of the log were dropped: the reader was too slow",
            metadata: ["count": .stringConvertible(count)],
            source: nil,
            file: #fileID,
            function: #function,
            line: #line
        )
        return LogLine(event, metadata: [:], time: timestamp(of: time(nil)))
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
