import AsyncHTTPClient
import NIOCore
import NIOHTTP1

extension S3Client {
    /// Performs a request whose answer's body does not matter.
    ///
    /// - Returns: The answer's headers.
    @discardableResult
    func send(
        _ request: S3Request,
        by deadline: Deadline,
        mayAsk: Bool = true
    ) async throws(S3Error) -> HTTPHeaders {
        try await perform(request, by: deadline, mayAsk: mayAsk) { response, attempt in
            // Read to its end: otherwise the connection could not be used again.
            _ = try await Self.read(response.body, maxBytes: ErrorDocument.maxBytes, attempt: attempt)
            return response.headers
        }
    }

    /// Performs a request that is answered with a document.
    func document(
        _ request: S3Request,
        root: String,
        maxBytes: Int = ErrorDocument.maxBytes,
        by deadline: Deadline
    ) async throws(S3Error) -> (root: DocumentElement, headers: HTTPHeaders) {
        try await perform(request, by: deadline) { response, attempt in
            let bytes = try await Self.read(response.body, maxBytes: maxBytes, attempt: attempt)
            // A long answer begins with 200 before the store knows how the request ends (AWS,
            // "CompleteMultipartUpload").
            let failure = ErrorDocument(bytes)
            if failure.code != nil {
                throw S3Error(S3Failure(status: .internalServerError, headers: response.headers, document: failure))
            }
            return (try DocumentElement.read(bytes, root: root), response.headers)
        }
    }

    /// Performs a request in as many attempts as its deadline allows.
    ///
    /// Some refusals can be corrected: a wrong region, a wrong clock, expired keys. Each is corrected once, and
    /// the request is signed again. Such an attempt does not count.
    ///
    /// - Parameters:
    ///   - request: signed again for every attempt.
    ///   - deadline: when all attempts must be over.
    ///   - mayAsk: whether another request may be sent to learn what the answer does not say.
    ///   - consume: turns a 2xx answer into the result, within the deadline.
    /// - Returns: what `consume` made of the answer.
    /// - Throws: the last attempt's error.
    func perform<Success: Sendable>(
        _ request: S3Request,
        by deadline: Deadline,
        mayAsk: Bool = true,
        consume: @escaping @Sendable (HTTPClientResponse, Attempt) async throws -> Success
    ) async throws(S3Error) -> Success {
        var deadline = deadline
        var corrections = Corrections(mayAsk: mayAsk)
        var attempts = 0
        while true {
            // Keys may be waited for, and that leaves the store less time to be silent.
            let signing = try await signing()
            let attempt = Attempt(body: request.body, clock: clock)
            do {
                return try await run(attempt, of: request, signing: signing, by: deadline, consume: consume)
            } catch {
                // A large body may take longer than we wait for a dead store. This store is alive.
                if error.isOfLivingStore { deadline = deadline.restarted(at: attempt.lastSignOfLife) }
                let facts = signing.facts
                if deadline.hasTime(),
                    let correction = corrections.next(after: error, to: request.method, with: facts, at: signing.date)
                {
                    if try await apply(correction, after: signing, error: error, by: deadline) {
                        (deadline, attempts) = (deadline.restarted(), 0)
                        continue
                    }
                }
                attempts += 1
                let (elapsed, window) = (deadline.elapsed, deadlines.retryWindow)
                guard
                    let pause = retries.pause(after: error, attempts: attempts, elapsed: elapsed, window: window),
                    deadline.hasTime(for: pause)
                else { throw error }
                retries.onRetry()
                do { try await clock.sleep(for: pause) } catch { throw .cancelled }
            }
        }
    }

    /// Puts one thing right.
    ///
    /// - Returns: Whether the store has answered, so that its silence counts from now.
    private func apply(
        _ correction: Corrections.Correction,
        after signing: Signing,
        error: S3Error,
        by deadline: Deadline
    ) async throws(S3Error) -> Bool {
        switch correction {
        case .address(let configuration):
            learned.correct(\.configuration, to: configuration, from: signing.configuration)
        case .clock(let offset): learned.correct(\.clockOffset, to: offset, from: signing.facts.clockOffset)
        case .credentials: try await replace(signing.credentials)
        case .ask:
            if case .unavailable = error { return try await ask(by: deadline) }
            return try await ask(by: deadline.restarted())
        }
        return true
    }

    /// Sends a small request to learn from its answer what is wrong.
    ///
    /// - Returns: Whether an answer came. A refusal is an answer, too: the keys need not be allowed to list.
    /// - Throws: The error for a missing bucket, which the caller may make.
    private func ask(by deadline: Deadline) async throws(S3Error) -> Bool {
        do {
            try await send(.question, by: deadline, mayAsk: false)
            return true
        } catch {
            if case .cancelled = error { throw error }
            if error.isMissingBucket { throw error }
            if case .unavailable(let failure) = error { return failure.status != nil }
            return true
        }
    }

    private func run<Success: Sendable>(
        _ attempt: Attempt,
        of request: S3Request,
        signing: Signing,
        by deadline: Deadline,
        consume: @escaping @Sendable (HTTPClientResponse, Attempt) async throws -> Success
    ) async throws(S3Error) -> Success {
        defer { attempt.end() }
        var httpRequest = HTTPClientRequest(
            request,
            signed: signing.sign(request),
            configuration: signing.configuration,
            attempt: attempt
        )
        for (name, value) in callerHeaders() { httpRequest.headers.replaceOrAdd(name: name, value: value) }
        let (httpClient, learned) = (httpClient, learned)
        do {
            return try await attempt.run(silence: deadline.silence(deadlines), end: deadline.end) { [httpRequest] in
                let response = try await httpClient.execute(httpRequest, deadline: .distantFuture)
                attempt.noteSignOfLife()
                guard (200..<300).contains(response.status.code) else {
                    // A store may refuse a put, and any large body, before all of it has come.
                    let isBodyOnItsWay = attempt.hasLargeBody || request.method == .PUT && request.body != nil
                    throw try await Self.error(from: response, attempt: attempt, isBodyOnItsWay: isBodyOnItsWay)
                }
                attempt.noteSuccess()
                if VersionHeaders.haveVersion(response.headers) { learned.note(.kept) }
                return try await consume(response, attempt)
            }
        } catch {
            throw Self.sort(error, attempt: attempt)
        }
    }

    private static func error(
        from response: HTTPClientResponse,
        attempt: Attempt,
        isBodyOnItsWay: Bool
    ) async throws -> S3Error {
        var document = ByteBuffer()
        var isWhole = true
        do {
            document = try await read(response.body, maxBytes: ErrorDocument.maxBytes, attempt: attempt)
        } catch {
            // The status is enough, even if the body ended early. But a cancelled task ends.
            try Task.checkCancellation()
            isWhole = false
        }
        return S3Error(
            S3Failure(
                status: response.status,
                headers: response.headers,
                document: ErrorDocument(document),
                brokeOffBody: !isWhole && isBodyOnItsWay
            )
        )
    }

    /// Reads up to a number of bytes.
    ///
    /// A store that sends more loses the connection.
    private static func read(
        _ body: HTTPClientResponse.Body,
        maxBytes: Int,
        attempt: Attempt
    ) async throws -> ByteBuffer {
        var bytes = ByteBuffer()
        for try await var chunk in body {
            attempt.noteSignOfLife()
            bytes.writeBuffer(&chunk)
            if bytes.readableBytes > maxBytes { break }
        }
        return bytes
    }

    private static func sort(_ error: any Error, attempt: Attempt) -> S3Error {
        if let error = error as? S3Error { return error }
        if error is CancellationError { return .cancelled }
        // A deadline ends an attempt by cancelling it, and a source that is being read then fails, too.
        if let sourceError = attempt.sourceError, !(error is S3NoAnswer) { return .source(sourceError) }
        let error = error.isOfOtherProtocol ? S3NoAnswer.malformed : error
        let brokeOffBody = attempt.hasLargeBody && attempt.hasBegun && !(error is S3NoAnswer)
        return .unavailable(S3Failure(cause: error, brokeOffBody: brokeOffBody))
    }
}
