import Testing

@testable import Traces

@Suite("traceparent")
struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test("A header is read and written as W3C says")
    func header() throws {
        let context = try #require(TraceContext(header: "00-\(Self.trace)-\(Self.span)-01"))
        #expect(context.traceID == Self.trace && context.spanID == Self.span && context.isSampled)
        #expect(context.header == "00-\(Self.trace)-\(Self.span)-01")
        #expect(TraceContext(header: "00-\(Self.trace)-\(Self.span)-02")?.isSampled == false)
        // A later version may have more fields.
        #expect(TraceContext(header: "01-\(Self.trace)-\(Self.span)-01-more")?.traceID == Self.trace)
    }

    @Test(
        "Malformed traces are ignored",
        arguments: [
            "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-01-more", "ff-\(trace)-\(span)-01",
            "00-\(trace.uppercased())-\(span)-01", "00-\(trace.dropLast())-\(span)-01", "00-\(trace)-\(span)0-01",
            "00-\(String(repeating: "0", count: 32))-\(span)-01", "00-\(trace)-\(String(repeating: "0", count: 16))-01",
            "00-\(trace)-\(span)-0x", "00-\(trace)-\(span)-1", "0g-\(trace)-\(span)-01", "00-\(trace)\n-\(span)-01",
        ]
    )
    func ignored(header: String) {
        #expect(TraceContext(header: header) == nil)
    }

    @Test("A child has an id of its own, a root is another trace each time")
    func ids() throws {
        let parent = TraceContext.root(isSampled: true)
        let child = parent.child()
        #expect(child.traceID == parent.traceID && child.spanID != parent.spanID && child.isSampled)
        #expect(TraceContext.root(isSampled: false).traceID != parent.traceID)
        #expect(TraceContext(header: parent.header) == parent)
    }
}
