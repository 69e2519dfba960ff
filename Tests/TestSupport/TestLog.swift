package import Logging
import Synchronization

/// Collects log entries, each as one line with all its metadata.
package final class TestLog: Sendable {
    private let lines = Mutex<[String]>([])

    package init() {}

    /// All that was logged so far.
    package var text: String { lines.withLock { $0.joined(separator: "\n") } }

    /// All lines so far.
    package var entries: [String] { lines.withLock { $0 } }

    /// A logger that writes here.
    package func logger(level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in Handler(log: self) }
        logger.logLevel = level
        return logger
    }

    private struct Handler: LogHandler {
        let log: TestLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let text = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            log.lines.withLock { $0.append("\(event.level) \(event.message) \(text)") }
        }
    }
}
