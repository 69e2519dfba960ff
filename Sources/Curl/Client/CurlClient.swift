package import Concurrency
import NIOCore

/// Sends requests by HTTP, over connections that are used again.
///
/// It closes them when it goes. It owns nothing that must be shut down.
package final class CurlClient: Sendable {
    private let configuration: CurlConfiguration
    private let driver: CurlDriver
    private let trust: TrustCache

    /// - Parameter configuration: How connections are made.
    package init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        // Its descriptors are opened when a service starts, and not by a request that could find none.
        _ = WatcherExecutor.shared
        self.configuration = configuration
        driver = CurlDriver(configuration)
        trust = TrustCache(configuration.trust)
    }

    deinit {
        let driver = driver
        Task { await driver.close() }
    }

    /// Sends a request, and passes its answer to a closure when the head is there.
    ///
    /// A redirect is an answer like any other. When a refusal (from 300 on) comes before the body was sent, the rest of
    /// the body is not sent.
    ///
    /// - Parameters:
    ///   - request: What to send. Its body is read once.
    ///   - deadlines: They hold until the closure returns. The closure may return the answer's body; then only
    ///     ``CurlDeadlines/silenceInBody`` holds for it.
    ///   - clock: The clock for ``CurlDeadlines/silence`` and ``CurlDeadlines/end``.
    ///   - consume: Uses the answer.
    /// - Returns: What the closure returns.
    /// - Throws: ``CurlFailure``, or what the closure throws.
    package func perform<Success: Sendable>(
        _ request: CurlRequest,
        deadlines: CurlDeadlines,
        clock: any MonotonicClock = ContinuousClock(),
        _ consume: @escaping @Sendable (CurlResponse) async throws -> Success
    ) async throws -> Success {
        let transfer = Transfer(request, deadlines: deadlines, clock: clock)
        do {
            return try await race { [self] in
                try await withBody(of: transfer) { [self] in
                    try await consume(try await begin(transfer))
                }
            } against: {
                while true {
                    // Before the last progress is read, so that progress in between counts.
                    let now = clock.now
                    let quietUntil = transfer.lastProgress + deadlines.silence
                    if now >= deadlines.end { return CurlError.overdue }
                    if now >= quietUntil { return CurlError.silent }
                    try await clock.sleep(until: min(quietUntil, deadlines.end), tolerance: nil)
                }
            }
        } catch {
            end(transfer)
            throw transfer.failure(of: error)
        }
    }

    /// Sends a request whose answer is small.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - limit: How long all of it may take.
    ///   - maxBytes: The most bytes of the answer's body.
    /// - Returns: The whole answer.
    /// - Throws: ``CurlFailure``.
    package func answer(
        to request: CurlRequest,
        within limit: Duration,
        maxBytes: Int = 64 * 1_024
    ) async throws -> CurlAnswer {
        try await perform(request, deadlines: CurlDeadlines(within: limit)) { response in
            let body = try await response.body.collect(upTo: maxBytes)
            return CurlAnswer(status: response.status, headers: response.headers, body: body)
        }
    }

    /// Hands a mail to a server.
    ///
    /// - Parameters:
    ///   - mail: The mail.
    ///   - limit: How long all of it may take.
    /// - Returns: The server's last reply, which may be a refusal.
    /// - Throws: ``CurlFailure`` when there is none.
    package func send(_ mail: MailRequest, within limit: Duration) async throws -> MailReply {
        let transfer = Transfer(CurlRequest(mail), deadlines: CurlDeadlines(within: limit), clock: ContinuousClock())
        do {
            let trust = transfer.request.usesTLS ? try trust.current() : nil
            let session = MailSession(transfer, configuration: configuration, trust: trust)
            defer { session.hangUp() }
            return try await race {
                try session.start(within: limit)
                return try await transfer.awaitReply()
            } against: {
                try await Task.sleep(for: limit)
                return CurlError.overdue
            }
        } catch {
            throw transfer.failure(of: error)
        }
    }

    private func start(_ transfer: Transfer) async throws(CurlError) {
        let request = transfer.request
        await driver.start(
            transfer,
            host: Self.host(of: request.url),
            trust: request.usesTLS ? try trust.current() : nil
        )
    }

    private func begin(_ transfer: Transfer) async throws(CurlError) -> CurlResponse {
        try await start(transfer)
        let head = try await transfer.awaitHead()
        return CurlResponse(
            status: head.status,
            headers: head.headers,
            body: ResponseBody(reference: ResponseBody.Reference(transfer: transfer, client: self))
        )
    }

    /// Passes the request's body beside an operation.
    private func withBody<Success: Sendable>(
        of transfer: Transfer,
        _ operation: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        guard let body = transfer.request.body, body.bytes == nil else { return try await operation() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in await send(body, of: transfer) }
            defer { group.cancelAll() }
            return try await operation()
        }
    }

    private func send(_ body: RequestBody, of transfer: Transfer) async {
        do {
            var left = body.length
            try await body.send { piece in
                left -= piece.readableBytes
                guard left >= 0 else { throw BodyLengthMismatch() }
                if try transfer.offer(piece) { await driver.resume(transfer) }
                await transfer.awaitRoom()
                try Task.checkCancellation()
            }
            guard left == 0 else { throw BodyLengthMismatch() }
            if transfer.completeBody() { await driver.resume(transfer) }
        } catch {
            // The end of the transfer cancels its source, which is then not the cause.
            guard !(error is BodyNotWanted), !Task.isCancelled, !transfer.isOver else { return }
            transfer.finish(.source(error))
            end(transfer)
        }
    }

    /// Gives up a transfer, with its connection unless the answer is complete.
    func end(_ transfer: Transfer) {
        transfer.finish(.cancelled)
        let driver = driver
        Task { await driver.abandon(transfer) }
    }

    /// How many transfers libcurl has at the moment.
    package var transferCount: Int {
        get async { await driver.transferCount }
    }

    func resume(_ transfer: Transfer) async {
        await driver.resume(transfer)
    }

    /// Scheme, host and port of a URL.
    private static func host(of url: String) -> String {
        url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).prefix(3)
            .map { $0.prefix { $0 != "/" } }.joined(separator: "/")
    }
}
