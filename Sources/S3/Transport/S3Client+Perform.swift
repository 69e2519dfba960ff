import AsyncHTTPClient
import NIOCore
import NIOHTTP1

extension S3Client {
    /// Performs a request whose answer has no content that matters.
    func send(_ request: S3Request, during call: Call) async throws(S3Error) {
        try await perform(request, during: call) { response, transfer in
            // Read to its end, or the connection could not be used again.
            _ = try await Self.read(response.body, transfer: transfer)
        }
    }

    /// Performs a request in as many tries as its call allows.
    ///
    /// - Parameters:
    ///   - request: signed anew for every try.
    ///   - call: what the tries must fit into.
    ///   - consume: turns a 2xx answer into the result; still under the watchdog.
    /// - Returns: what `consume` made of the answer.
    /// - Throws: the last try's error.
    func perform<Success: Sendable>(
        _ request: S3Request,
        during call: Call,
        consume: @escaping @Sendable (HTTPClientResponse, Transfer) async throws -> Success
    ) async throws(S3Error) -> Success {
        var tries = 0
        while true {
            // A later try gets what the earlier ones left of the time for a store that gives no sign of life.
            let patience = tries == 0 ? deadlines.silence : deadlines.giveUp - call.elapsed
            let watchdog = Watchdog(silence: min(patience, deadlines.silence), end: call.end)
            tries += 1
            do {
                return try await attempt(request, watchdog: watchdog, consume: consume)
            } catch {
                let window = deadlines.retryWindow
                guard
                    let pause = retries.pause(after: error, tries: tries, elapsed: call.elapsed, window: window)
                else { throw error }
                do { try await retries.sleep(pause) } catch { throw .cancelled }
            }
        }
    }

    private func attempt<Success: Sendable>(
        _ request: S3Request,
        watchdog: Watchdog,
        consume: @escaping @Sendable (HTTPClientResponse, Transfer) async throws -> Success
    ) async throws(S3Error) -> Success {
        let transfer = Transfer(body: request.body)
        defer { transfer.end() }
        let httpRequest = HTTPClientRequest(
            request,
            signed: sign(request),
            configuration: configuration,
            transfer: transfer
        )
        let httpClient = httpClient
        do {
            return try await watchdog.run(transfer) {
                let response = try await httpClient.execute(httpRequest, deadline: .distantFuture)
                transfer.noteSignOfLife()
                guard (200..<300).contains(response.status.code) else {
                    throw try await Self.error(from: response, transfer: transfer)
                }
                return try await consume(response, transfer)
            }
        } catch {
            throw Self.sort(error, transfer: transfer)
        }
    }

    private func sign(_ request: S3Request) -> SignedRequest {
        var headers = request.headers
        headers.add(name: "Host", value: configuration.host)
        let unsigned = UnsignedRequest(
            method: request.method.rawValue,
            encodedPath: configuration.encodedPath(key: request.key),
            query: request.query,
            headers: headers,
            payloadHash: request.body?.sha256Hex ?? UnsignedRequest.emptyPayloadHash
        )
        return signer.sign(unsigned, at: now())
    }

    private static func error(from response: HTTPClientResponse, transfer: Transfer) async throws -> S3Error {
        var document = ByteBuffer()
        do {
            document = try await read(response.body, transfer: transfer)
        } catch {
            // The status is the answer; that its explanation broke off changes nothing. But a cancelled task ends.
            try Task.checkCancellation()
        }
        return S3Error(
            S3Failure(status: response.status, headers: response.headers, document: ErrorDocument(document))
        )
    }

    /// Up to ``ErrorDocument/bytesMax`` bytes; whoever sends more loses the connection, not our memory.
    private static func read(_ body: HTTPClientResponse.Body, transfer: Transfer) async throws -> ByteBuffer {
        var bytes = ByteBuffer()
        for try await var chunk in body {
            transfer.noteSignOfLife()
            bytes.writeBuffer(&chunk)
            if bytes.readableBytes > ErrorDocument.bytesMax { break }
        }
        return bytes
    }

    private static func sort(_ error: any Error, transfer: Transfer) -> S3Error {
        if let error = error as? S3Error { return error }
        if error is CancellationError { return .cancelled }
        if let sourceError = transfer.sourceError { return .source(sourceError) }
        return .unavailable(S3Failure(cause: error))
    }
}
