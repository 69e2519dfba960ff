import Synchronization
package import Tracing

/// A span of work, which is exported at its end.
package final class RecordedSpan: Span {
    private struct State {
        var name: String
        var attributes = SpanAttributes()
        var isError = false
        var hasEnded = false
    }

    package let context: ServiceContext
    /// nil for a span that is not recorded.
    private let record: Record?
    private let state: Mutex<State>

    private struct Record {
        let kind: SpanKind
        let start: UInt64
        let trace: TraceContext
        let parentID: String?
        let exporter: any SpanExporter
    }

    /// A span that only carries its context.
    init(context: ServiceContext) {
        self.context = context
        record = nil
        state = Mutex(State(name: ""))
    }

    init(
        _ name: String,
        kind: SpanKind,
        start: UInt64,
        context: ServiceContext,
        trace: TraceContext,
        parentID: String?,
        exporter: any SpanExporter
    ) {
        self.context = context
        record = Record(kind: kind, start: start, trace: trace, parentID: parentID, exporter: exporter)
        state = Mutex(State(name: name))
    }

    package var isRecording: Bool { record != nil }

    package var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set {
            guard isRecording else { return }
            state.withLock { $0.attributes = newValue }
        }
    }

    package func setStatus(_ status: SpanStatus) {
        state.withLock { $0.isError = status.code == .error }
    }

    /// Events are in the log.
    package func addEvent(_ event: SpanEvent) {}

    /// Only that there was an error, since its text may hold secrets.
    package func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {
        state.withLock { $0.isError = true }
    }

    package func addLink(_ link: SpanLink) {}

    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let record else { return }
        let state = state.withLock { state -> State? in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return state
        }
        guard let state else { return }
        record.exporter.export(
            FinishedSpan(
                name: state.name,
                kind: record.kind,
                trace: record.trace,
                parentID: record.parentID,
                start: record.start,
                end: instant().nanosecondsSinceEpoch,
                attributes: state.attributes,
                isError: state.isError
            )
        )
    }
}

/// A span as it is exported.
package struct FinishedSpan: Sendable {
    package let name: String
    package let kind: SpanKind
    package let trace: TraceContext
    /// nil for the first span of a trace.
    package let parentID: String?
    /// In nanoseconds since 1970.
    package let start: UInt64
    /// In nanoseconds since 1970.
    package let end: UInt64
    package let attributes: SpanAttributes
    package let isError: Bool
}

/// Where finished spans go.
package protocol SpanExporter: Sendable {
    /// Takes a span, at once.
    func export(_ span: FinishedSpan)
}
