import Encodings
package import Tracing

/// Which trace a piece of work belongs to, and which span it is part of.
///
/// Source: W3C, "Trace Context" (2021), section 3.2 "Traceparent Header".
package struct TraceContext: Sendable, Equatable {
    /// 32 hexadecimal digits, not all of them 0.
    package let traceID: String
    /// 16 hexadecimal digits, not all of them 0.
    package let spanID: String
    /// Whether the service that began the trace wants it recorded.
    package let isSampled: Bool

    package static let headerName = "traceparent"

    init(traceID: String, spanID: String, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Reads the value of a `traceparent` header; nil for one that must be ignored.
    package init?(header: String) {
        guard header.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let fields = header.split(separator: "-", omittingEmptySubsequences: false)
        guard fields.count >= 4, fields[0].count == 2, fields[0] != "ff", fields[0] != "00" || fields.count == 4,
            fields[1].count == 32, fields[2].count == 16, fields[3].count == 2,
            fields.prefix(4).allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }),
            fields[1].contains(where: { $0 != "0" }), fields[2].contains(where: { $0 != "0" }),
            let flags = UInt8(fields[3], radix: 16)
        else { return nil }
        self.init(traceID: String(fields[1]), spanID: String(fields[2]), isSampled: flags & 1 == 1)
    }

    /// The value of the header for the called service.
    package var header: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    /// A new span of the same trace.
    func child() -> TraceContext {
        TraceContext(traceID: traceID, spanID: Self.randomID(words: 1), isSampled: isSampled)
    }

    /// A new trace.
    static func root(isSampled: Bool) -> TraceContext {
        TraceContext(traceID: randomID(words: 2), spanID: randomID(words: 1), isSampled: isSampled)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    /// Hexadecimal digits of random words of 64 bits.
    private static func randomID(words: Int) -> String {
        (0..<words).map { _ in
            withUnsafeBytes(of: UInt64.random(in: 1 ... .max)) { $0.hexadecimal }
        }.joined()
    }
}

extension ServiceContext {
    private enum TraceContextKey: ServiceContextKey {
        typealias Value = TraceContext
    }

    /// The span that work under this context is part of.
    package var traceContext: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }
}
