import AsyncHTTPClient
import NIOCore
import NIOHTTP1

extension S3Client {
    /// Performs a request whose answer's body does not matter.
    ///
    /// - Returns: The answer's headers.
    @discardableResult
    func send(_ request: S3Request, during call: Call) async throws(S3Error) -> HTTPHeaders {
        try await perform(request, during: call) { response, transfer in
            // Read to its end: otherwise the connection could not be used again.
            _ = try await Self.read(response.body, maxBytes: ErrorDocument.maxBytes, transfer: transfer)
            return response.headers
        }
    }

    /// Performs a request that is answered with a document.
    func document(
        _ request: S3Request,
        root: String,
        maxBytes: Int = ErrorDocument.maxBytes,
        during call: Call
    ) async throws(S3Error) -> (root: DocumentElement, headers: HTTPHeaders) {
        try await perform(request, during: call) { response, transfer in
            let bytes = try await Self.read(response.body, maxBytes: maxBytes, transfer: transfer)
            // A long answer begins with 200 before the store knows how the request ends (AWS,
            // "CompleteMultipartUpload").
            let failure = ErrorDocument(bytes)
            if failure.code != nil {
                throw S3Error(S3Failure(status: .internalServerError, headers: response.headers, document: failure))
            }
            return (try DocumentElement.read(bytes, root: root), response.headers)
        }
    }

    /// Performs a request in as many tries as its call allows.
    ///
    /// Some refusals can be put right: a wrong region, a wrong clock, keys that have ended. Each is put right once, and
    /// the request is signed again. Such a try does not count.
    ///
    /// - Parameters:
    ///   - request: signed again for every try.
    ///   - call: what the tries must fit into.
    ///   - mayAsk: whether another request may be sent to learn what the answer does not tell.
    ///   - consume: turns a 2xx answer into the result; still under the watchdog.
    /// - Returns: what `consume` made of the answer.
    /// - Throws: the last try's error.
    func perform<Success: Sendable>(
        _ request: S3Request,
        during call: Call,
        mayAsk: Bool = true,
        consume: @escaping @Sendable (HTTPClientResponse, Transfer) async throws -> Success
    ) async throws(S3Error) -> Success {
        var call = call
        var corrections = Corrections(mayAsk: mayAsk)
        var tries = 0
        while true {
            // Keys may be waited for, and that leaves the store less time to be silent.
            let signing = try await signing()
            let watchdog = Watchdog(silence: call.silence(deadlines), end: call.end, time: time)
            let transfer = Transfer(body: request.body, time: time)
            do {
                return try await attempt(
                    request,
                    signing: signing,
                    transfer: transfer,
                    watchdog: watchdog,
                    consume: consume
                )
            } catch {
                // A large body may take longer than we wait for a dead store. This store is alive.
                if error.isOfLivingStore { call = call.restarted(at: transfer.lastSignOfLife) }
                let facts = signing.facts
                if call.hasTime(),
                    let correction = corrections.next(after: error, to: request.method, with: facts, at: signing.date)
                {
                    if try await apply(correction, after: signing, error: error, during: call) {
                        (call, tries) = (call.restarted(), 0)
                        continue
                    }
                }
                tries += 1
                let window = deadlines.retryWindow
                guard
                    let pause = retries.pause(after: error, tries: tries, elapsed: call.elapsed, window: window),
                    call.hasTime(for: pause)
                else { throw error }
                retries.onRetry()
                do { try await retries.sleep(pause) } catch { throw .cancelled }
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
        during call: Call
    ) async throws(S3Error) -> Bool {
        switch correction {
        case .address(let configuration): learned.correct(configuration: configuration, from: signing.configuration)
        case .clock(let offset): learned.correct(clockOffset: offset, from: signing.facts.clockOffset)
        case .credentials: try await replace(signing.credentials)
        case .ask:
            if case .unavailable = error { return try await ask(during: call) }
            return try await ask(during: call.restarted())
        }
        return true
    }

    /// Sends a small request to learn from its answer what is wrong.
    ///
    /// - Returns: Whether an answer came. A refusal is an answer, too: the keys need not be allowed to list.
    /// - Throws: The error for a missing bucket, which the caller may make.
    private func ask(during call: Call) async throws(S3Error) -> Bool {
        do {
            try await perform(.question, during: call, mayAsk: false) { response, transfer in
                _ = try await Self.read(response.body, maxBytes: ErrorDocument.maxBytes, transfer: transfer)
            }
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
        transfer: Transfer,
        watchdog: Watchdog,
        consume: @escaping @Sendable (HTTPClientResponse, Transfer) async throws -> Success
    ) async throws(S3Error) -> Success {
        defer { transfer.end() }
        var httpRequest = HTTPClientRequest(
            request,
            signed: signing.sign(request),
            configuration: signing.configuration,
            transfer: transfer
        )
        for (name, value) in callerHeaders() { httpRequest.headers.replaceOrAdd(name: name, value: value) }
        let (httpClient, learned) = (httpClient, learned)
        do {
            return try await watchdog.run(transfer) { [httpRequest] in
                let response = try await httpClient.execute(httpRequest, deadline: .distantFuture)
                transfer.noteSignOfLife()
                guard (200..<300).contains(response.status.code) else {
                    // A store may refuse a put, and any large body, before all of it has come.
                    let isBodyOnItsWay = transfer.hasLargeBody || request.method == .PUT && request.body != nil
                    throw try await Self.error(from: response, transfer: transfer, isBodyOnItsWay: isBodyOnItsWay)
                }
                transfer.noteSuccess()
                if VersionHeaders.tellOfVersions(response.headers) { learned.note(.kept) }
                return try await consume(response, transfer)
            }
        } catch {
            throw Self.sort(error, transfer: transfer)
        }
    }

    private static func error(
        from response: HTTPClientResponse,
        transfer: Transfer,
        isBodyOnItsWay: Bool
    ) async throws -> S3Error {
        var document = ByteBuffer()
        var isWhole = true
        do {
            document = try await read(response.body, maxBytes: ErrorDocument.maxBytes, transfer: transfer)
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
        transfer: Transfer
    ) async throws -> ByteBuffer {
        var bytes = ByteBuffer()
        for try await var chunk in body {
            transfer.noteSignOfLife()
            bytes.writeBuffer(&chunk)
            if bytes.readableBytes > maxBytes { break }
        }
        return bytes
    }

    private static func sort(_ error: any Error, transfer: Transfer) -> S3Error {
        if let error = error as? S3Error { return error }
        if error is CancellationError { return .cancelled }
        // The watchdog ends a try by cancelling it, and a source that is being read then fails, too.
        if let sourceError = transfer.sourceError, !(error is S3NoAnswer) { return .source(sourceError) }
        let error = error.isOfOtherProtocol ? S3NoAnswer.malformed : error
        let brokeOffBody = transfer.hasLargeBody && transfer.hasBegun && !(error is S3NoAnswer)
        return .unavailable(S3Failure(cause: error, brokeOffBody: brokeOffBody))
    }
}
