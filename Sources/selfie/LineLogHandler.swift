import Foundation
import Glibc
import Logging
import Synchronization

/// Writes each event as one line of text to standard output, where platforms collect them.
///
///     2026-11-21T08:18:25Z info request duration_ms=4.4 method=GET request_id=… route=/api/get_photos status=200
///
/// swift-log's own `StreamLogHandler` asks the system for its time zone with each line; a service that writes a line
/// for each request feels that.
struct LineLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info

    private static let timestamp = Mutex((second: 0, text: ""))

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = Self.text(of: event, with: metadata, at: Self.timestamp(of: time(nil)))
        line.withUTF8 { bytes in
            // Short lines are written whole (pipe(7)); what fails has nowhere else to go.
            _ = write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
        }
    }

    /// One line, in which no value can begin another.
    static func text(of event: LogEvent, with metadata: Logger.Metadata, at timestamp: String) -> String {
        var line = "\(timestamp) \(event.level.rawValue) "
        append("\(event.message)", to: &line)
        let all = event.metadata.map { metadata.merging($0) { $1 } } ?? metadata
        for (key, value) in all.sorted(by: { $0.key < $1.key }) {
            line += " \(key)="
            append(value.description, to: &line)
        }
        line += "\n"
        return line
    }

    private static func append(_ text: String, to line: inout String) {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
            line += text
        } else {
            line += text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : String($0) }.joined()
        }
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
