/// How lines of the log are written: `LOG_FORMAT`.
package enum LogFormat: String, CaseIterable, Sendable {
    /// `key=value` pairs.
    case logfmt
    /// One JSON object a line.
    case json
}
