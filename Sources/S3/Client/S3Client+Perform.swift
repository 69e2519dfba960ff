import Curl
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
        try await perform(request, by: deadline, mayAsk: mayAsk) { response in
            // Read to its end: otherwise the connection could not be used again.
            _ = try await Self.read(response.body, maxBytes: ErrorDocument.maxBytes)
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
        try await perform(request, by: deadline) { response in
            let bytes = try await Self.read(response.body, maxBytes: maxBytes)
            // A long answer begins with 200 before the store knows how the request ends (AWS,
            // "CompleteMultipartUpload").
            let failure = ErrorDocument(bytes)
            if failure.code != nil {
                throw S3Error(
                    S3Failure(status: .internalServerError, headers: response.headers, document: failure, at: clock.now)
                )
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
        consume: @escaping @Sendable (CurlResponse) async throws -> Success
    ) async throws(S3Error) -> Success {
        var deadline = deadline
        var corrections = Corrections(mayAsk: mayAsk)
        var attempts = 0
        while true {
            // Keys may be waited for, and that leaves the store less time to be silent.
            let signing = try await signing()
            do {
                return try await attempt(request, signing: signing, by: deadline, consume: consume)
            } catch {
                // A large body may take longer than we wait for a dead store. This store is alive.
                if let instant = error.lastSignOfLife { deadline = deadline.restarted(at: instant) }
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

    private func attempt<Success: Sendable>(
        _ request: S3Request,
        signing: Signing,
        by deadline: Deadline,
        consume: @escaping @Sendable (CurlResponse) async throws -> Success
    ) async throws(S3Error) -> Success {
        var curlRequest = CurlRequest(request, signed: signing.sign(request), configuration: signing.configuration)
        for (name, value) in callerHeaders() { curlRequest.headers.replaceOrAdd(name: name, value: value) }
        let learned = learned
        do {
            return try await curl.perform(curlRequest, deadlines: deadline.limits(deadlines), clock: clock) {
                response in
                guard (200..<300).contains(response.status.code) else {
                    throw try await refusal(response, of: request)
                }
                if VersionHeaders.haveVersion(response.headers) { learned.note(.kept) }
                return try await consume(response)
            }
        } catch let failure as CurlFailure {
            throw S3Error(failure, hasLargeBody: request.hasLargeBody)
        } catch let error as S3Error {
            throw error
        } catch {
            throw .unavailable(S3Failure(cause: error))
        }
    }

    /// Reads an answer that is no success.
    private func refusal(_ response: CurlResponse, of request: S3Request) async throws -> S3Error {
        var document = ByteBuffer()
        var brokeOffBody = false
        do {
            document = try await Self.read(response.body, maxBytes: ErrorDocument.maxBytes)
        } catch {
            // The status is enough, even if the body ended early. But a cancelled task ends.
            try Task.checkCancellation()
            // A store may refuse a put, and any large body, before all of it has come.
            if request.hasLargeBody || request.method == .PUT && request.body != nil { brokeOffBody = true }
        }
        let answer = S3Failure(
            status: response.status,
            headers: response.headers,
            document: ErrorDocument(document),
            brokeOffBody: brokeOffBody,
            at: clock.now
        )
        return S3Error(answer)
    }

    /// Reads up to a number of bytes.
    ///
    /// A store that sends more loses the connection.
    private static func read(_ body: ResponseBody, maxBytes: Int) async throws -> ByteBuffer {
        var bytes = ByteBuffer()
        for try await var chunk in body {
            bytes.writeBuffer(&chunk)
            if bytes.readableBytes > maxBytes { break }
        }
        return bytes
    }
}

extension S3Request {
    /// Whether the body is larger than the sockets' buffers.
    ///
    /// A store can refuse such a body while it is sent.
    var hasLargeBody: Bool { (body?.length ?? 0) > 64 * 1_024 }
}
