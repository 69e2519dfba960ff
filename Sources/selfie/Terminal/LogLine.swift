import Logging
import SelfieConfiguration

/// One line of the log.
struct LogLine {
    /// How a line is written.
    struct Style: Sendable {
        let format: LogFormat
        /// Whether levels have colours.
        let hasColors: Bool

        /// - Parameters:
        ///   - format: The format.
        ///   - isTerminal: Whether the log goes to a terminal.
        init(format: LogFormat, isTerminal: Bool) {
            self.format = format
            hasColors = isTerminal && format == .logfmt
        }
    }

    private let level: Logger.Level
    private let time: String
    private let message: String
    /// Sorted by key.
    private let fields: [(key: String, value: Logger.Metadata.Value)]

    /// - Parameters:
    ///   - event: What happened.
    ///   - metadata: The handler's. The event's own values win.
    ///   - time: When it happened.
    init(_ event: LogEvent, metadata: Logger.Metadata, time: String) {
        level = event.level
        message = event.message.description
        self.time = time
        var fields = Array(metadata)
        if let own = event.metadata {
            fields.removeAll { own[$0.key] != nil }
            fields.append(contentsOf: own)
        }
        fields.sort { $0.key < $1.key }
        self.fields = fields
    }

    /// The line with its end.
    ///
    /// Values are escaped: none can begin another line, or look like another field.
    func bytes(_ style: Style) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(Self.usualBytes)
        switch style.format {
        case .logfmt: appendLogfmt(to: &line, hasColors: style.hasColors)
        case .json: appendJSON(to: &line)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// A little more than the length of a request's line.
    private static let usualBytes = 320

    private func appendLogfmt(to line: inout [UInt8], hasColors: Bool) {
        append("time=\(time) level=", to: &line)
        append(hasColors ? "\u{1B}[\(level.colorCode)m\(level.rawValue)\u{1B}[0m" : level.rawValue, to: &line)
        append(" msg=", to: &line)
        appendLogfmt(value: message, to: &line)
        for (key, value) in fields {
            line.append(UInt8(ascii: " "))
            for byte in key.utf8 { line.append(Self.needsQuotes(byte) ? UInt8(ascii: "_") : byte) }
            line.append(UInt8(ascii: "="))
            appendLogfmt(value: value.description, to: &line)
        }
    }

    /// A value, in quotes where it would be read as something else without them.
    private func appendLogfmt(value: String, to line: inout [UInt8]) {
        if value.isEmpty || value.utf8.contains(where: Self.needsQuotes) {
            appendQuoted(value, to: &line)
        } else {
            append(value, to: &line)
        }
    }

    private static func needsQuotes(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "=")
            || byte == UInt8(ascii: "\\")
    }

    private func appendJSON(to line: inout [UInt8]) {
        append("{\"time\":\"\(time)\",\"level\":\"\(level.rawValue)\",\"msg\":", to: &line)
        appendQuoted(message, to: &line)
        for (key, value) in fields {
            line.append(UInt8(ascii: ","))
            appendQuoted(Self.reservedKeys.contains(key) ? "\(key)_" : key, to: &line)
            line.append(UInt8(ascii: ":"))
            appendJSON(value: value, to: &line)
        }
        line.append(UInt8(ascii: "}"))
    }

    private static let reservedKeys: Set<String> = ["time", "level", "msg"]

    private func appendJSON(value: Logger.Metadata.Value, to line: inout [UInt8]) {
        switch value {
        case .stringConvertible(let number as any BinaryInteger): append("\(number)", to: &line)
        case .stringConvertible(let number as Double) where number.isFinite: append("\(number)", to: &line)
        case .stringConvertible(let flag as Bool): append("\(flag)", to: &line)
        default: appendQuoted(value.description, to: &line)
        }
    }

    /// A string as JSON has it; quoted values of logfmt are the same.
    private func appendQuoted(_ text: String, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): line += [UInt8(ascii: "\\"), byte]
            case 0x0A: append("\\n", to: &line)
            case 0x0D: append("\\r", to: &line)
            case 0x09: append("\\t", to: &line)
            case 0..<0x20, 0x7F: append("\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))", to: &line)
            default: line.append(byte)
            }
        }
        line.append(UInt8(ascii: "\""))
    }

    private func append(_ text: String, to line: inout [UInt8]) {
        line.append(contentsOf: text.utf8)
    }
}

extension Logger.Level {
    /// The color of ECMA-48's "Select Graphic Rendition".
    fileprivate var colorCode: Int {
        switch self {
        case .trace, .debug: 90
        case .info: 32
        case .notice: 36
        case .warning: 33
        case .error, .critical: 31
        }
    }
}
