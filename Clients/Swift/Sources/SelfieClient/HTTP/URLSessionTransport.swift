import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import Glibc
#endif

/// Sends requests with `URLSession`, without cookies and without a cache of its own.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let delegate = TransferDelegate()

    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // The transport's own time limit ends a silence; a large upload may take long as a whole.
        configuration.timeoutIntervalForResource = 7 * 24 * 3600
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    public func send(_ request: TransportRequest, progress: (@Sendable (Int64) -> Void)?) async throws
        -> TransportResponse
    {
        try Task.checkCancellation()
        var urlRequest = URLRequest(url: request.url)
        urlRequest.httpMethod = request.method
        urlRequest.timeoutInterval = request.timeout.seconds
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        let task: URLSessionTask
        switch request.body {
        case .none:
            task = session.dataTask(with: urlRequest)
        case .data(let data):
            task = session.uploadTask(with: urlRequest, from: data)
        case .file(let file):
            guard FileManager.default.isReadableFile(atPath: file.path) else { throw TransportError.unreadableBody }
            task = session.uploadTask(with: urlRequest, fromFile: file)
        }
        let transfer = Transfer(request, task: task, progress: progress)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                transfer.start(continuation)
                delegate.add(transfer)
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }
}

/// One request of a session, and what came of it so far.
private final class Transfer: Sendable {
    private struct State {
        var head: (status: Int, headers: [String: String])?
        var body = Data()
        var file: FileHandle?
        var byteCount = 0
        var error: TransportError?
        var continuation: CheckedContinuation<TransportResponse, any Error>?
    }

    let task: URLSessionTask
    let request: TransportRequest
    private let progress: (@Sendable (Int64) -> Void)?
    private let state = Locked(State())

    init(_ request: TransportRequest, task: URLSessionTask, progress: (@Sendable (Int64) -> Void)?) {
        (self.request, self.task, self.progress) = (request, task, progress)
    }

    func start(_ continuation: CheckedContinuation<TransportResponse, any Error>) {
        state.withLock { $0.continuation = continuation }
    }

    func hasSent(_ bytes: Int64) { progress?(bytes) }

    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        var headers: [String: String] = [:]
        for case let (name as String, value as String) in response.allHeaderFields { headers[name] = value }
        state.withLock { $0.head = (response.statusCode, headers) }
    }

    func receive(_ data: Data) {
        let hasFailed = state.withLock { state in
            guard state.error == nil else { return false }
            state.byteCount += data.count
            guard state.byteCount <= request.maxAnswerBytes else {
                state.error = .tooLarge
                return true
            }
            do {
                if let file = request.answerFile, state.head?.status == 200 {
                    if state.file == nil { state.file = try Self.make(file) }
                    try state.file?.write(contentsOf: data)
                } else {
                    state.body.append(data)
                }
                return false
            } catch {
                state.error = .unwritableAnswer
                return true
            }
        }
        if hasFailed { task.cancel() }
    }

    private static func make(_ file: URL) throws -> FileHandle {
        FileHandle(fileDescriptor: try Disk.open(file, O_WRONLY | O_CREAT | O_EXCL), closeOnDealloc: true)
    }

    func complete(_ error: (any Error)?) {
        let (state, continuation) = state.withLock { state in
            let continuation = state.continuation
            state.continuation = nil
            return (state, continuation)
        }
        guard let continuation else { return }
        if let own = state.error {
            continuation.resume(throwing: own)
        } else if let error {
            continuation.resume(throwing: TransportError.of(error))
        } else if let head = state.head {
            continuation.resume(
                returning: TransportResponse(status: head.status, headers: head.headers, body: state.body)
            )
        } else {
            continuation.resume(throwing: TransportError.interrupted)
        }
    }
}

/// Passes a session's events on to the transfer that they are for.
private final class TransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Locked<[Int: Transfer]>([:])

    func add(_ transfer: Transfer) {
        transfers.withLock { $0[transfer.task.taskIdentifier] = transfer }
    }

    private func transfer(of task: URLSessionTask) -> Transfer? {
        transfers.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection _: HTTPURLResponse,
        newRequest: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(transfer(of: task)?.request.followsRedirects == true ? newRequest : nil)
    }

    func urlSession(
        _: URLSession,
        task: URLSessionTask,
        didSendBodyData _: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend _: Int64
    ) {
        transfer(of: task)?.hasSent(totalBytesSent)
    }

    func urlSession(
        _: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.receive(data)
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.complete(error)
    }
}

extension TransportError {
    /// What an error of `URLSession` means for the request.
    static func of(_ error: any Error) -> any Error {
        guard let error = error as? URLError else { return Self.interrupted }
        switch error.code {
        case .cancelled: return CancellationError()
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .dataNotAllowed,
            .internationalRoamingOff, .callIsActive:
            return Self.notConnected
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            return Self.notSecure
        default: return Self.interrupted
        }
    }
}
