package import CoreMetrics
package import FoundationEssentials
import Metrics
package import S3
package import Tracing

/// A store whose calls are counted, timed and traced.
///
/// - `store_call_duration`, a timer with the dimensions `call` and `outcome`: `ok`, `unavailable` or `refused`.
package struct MeasuredObjectStore: ObjectStore {
    private let store: any ObjectStore
    private let tracer: (any Tracer)?
    private let timers: [Call: [Outcome: CoreMetrics.Timer]]

    private enum Call: String, CaseIterable {
        case prepare, put, delete, length, open
        case publicURL = "public_url"
        case removeLeftovers = "remove_leftovers"
        case list, abandon
    }

    private enum Outcome: String, CaseIterable {
        case ok, unavailable, refused

        init(_ error: any Error) {
            if case ObjectStoreError.unavailable = error { self = .unavailable } else { self = .refused }
        }
    }

    /// - Parameters:
    ///   - store: The store.
    ///   - metrics: Where metrics go.
    ///   - tracer: Where spans go; nil for nowhere.
    package init(_ store: any ObjectStore, metrics: any MetricsFactory, tracer: (any Tracer)?) {
        self.store = store
        self.tracer = tracer
        timers = Dictionary(
            uniqueKeysWithValues: Call.allCases.map { call in
                let timers = Outcome.allCases.map { outcome in
                    let dimensions = [("call", call.rawValue), ("outcome", outcome.rawValue)]
                    let timer = CoreMetrics.Timer(
                        label: "store_call_duration",
                        dimensions: dimensions,
                        factory: metrics
                    )
                    return (outcome, timer)
                }
                return (call, Dictionary(uniqueKeysWithValues: timers))
            }
        )
    }

    private func measure<Success, Failure: Error>(
        _ call: Call,
        _ body: () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let start = ContinuousClock.now
        let span = tracer?.startAnySpan("store \(call.rawValue)", ofKind: .client)
        defer { span?.end() }
        do throws(Failure) {
            // What the call sends on names this span as its parent.
            let success = try await within(span, body)
            record(call, .ok, since: start)
            return success
        } catch {
            record(call, Outcome(error), since: start)
            span?.setStatus(SpanStatus(code: .error))
            throw error
        }
    }

    private func within<Success, Failure: Error>(
        _ span: (any Span)?,
        _ body: () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        guard let span else { return try await body() }
        let result = await ServiceContext.$current.withValue(span.context) { () async -> Result<Success, Failure> in
            do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func record(_ call: Call, _ outcome: Outcome, since start: ContinuousClock.Instant) {
        timers[call]?[outcome]?.record(duration: ContinuousClock.now - start)
    }

    package func prepare() async throws(ObjectStoreError) {
        try await measure(.prepare) { () async throws(ObjectStoreError) in try await store.prepare() }
    }

    /// Only reads the object, so it is no call.
    package func hashed(_ object: SpooledObject) async throws(ObjectStoreError) -> SpooledObject {
        try await store.hashed(object)
    }

    package func put(
        _ object: SpooledObject,
        key: String,
        contentType: String
    ) async throws(ObjectStoreError) -> String? {
        try await measure(.put) { () async throws(ObjectStoreError) in
            try await store.put(object, key: key, contentType: contentType)
        }
    }

    package func delete(_ objects: [ObjectDeletion]) async throws(ObjectStoreError) -> [String: any Error] {
        try await measure(.delete) { () async throws(ObjectStoreError) in try await store.delete(objects) }
    }

    package func length(key: String) async throws(ObjectStoreError) -> Int? {
        try await measure(.length) { () async throws(ObjectStoreError) in try await store.length(key: key) }
    }

    package func open(key: String, range: Range<Int>?) async throws(ObjectStoreError) -> OpenObject? {
        try await measure(.open) { () async throws(ObjectStoreError) in try await store.open(key: key, range: range) }
    }

    package func publicURL(
        key: String,
        at date: Date,
        endingBy end: Date,
        isHead: Bool,
        answering headers: AnswerHeaders
    ) async throws(ObjectStoreError) -> PublicURL? {
        try await measure(.publicURL) { () async throws(ObjectStoreError) in
            try await store.publicURL(key: key, at: date, endingBy: end, isHead: isHead, answering: headers)
        }
    }

    package func removeLeftovers(from date: Date) async throws(ObjectStoreError) {
        try await measure(.removeLeftovers) { () async throws(ObjectStoreError) in
            try await store.removeLeftovers(from: date)
        }
    }

    package func forEachPage(_ body: ([ObjectEntry]) async throws -> Void) async throws {
        try await measure(.list) { try await store.forEachPage(body) }
    }

    package func forEachPageOfUnfinishedPuts(_ body: ([UnfinishedPut]) async throws -> Void) async throws {
        try await measure(.list) { try await store.forEachPageOfUnfinishedPuts(body) }
    }

    package func abandon(_ put: UnfinishedPut) async throws(ObjectStoreError) -> Bool {
        try await measure(.abandon) { () async throws(ObjectStoreError) in try await store.abandon(put) }
    }

    package func forEachPageOfVersions(_ body: ([ObjectVersion]) async throws -> Void) async throws {
        try await measure(.list) { try await store.forEachPageOfVersions(body) }
    }
}
