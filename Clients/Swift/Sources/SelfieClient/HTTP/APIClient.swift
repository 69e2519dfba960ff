import Foundation

/// Sends calls: adds who calls, tries again when that helps, and turns answers into values or errors.
final class APIClient: Sendable {
    let url: URL
    let sessions: SessionState
    let cipher: PasswordCipher
    let configuration: SelfieConfiguration
    let folders: UserFolders
    private let credential: APICredential

    init(url: URL, credential: APICredential, configuration: SelfieConfiguration) {
        (self.url, self.credential, self.configuration) = (url, credential, configuration)
        folders = UserFolders(folder: configuration.folder)
        sessions = SessionState(store: configuration.tokenStore, folders: folders)
        cipher = PasswordCipher(passphrase: credential.password.text)
    }

    /// A URL of the service.
    ///
    /// - Parameters:
    ///   - path: Its segments; each is percent-encoded.
    ///   - query: Its parameters; nil leaves one out.
    /// - Returns: The URL.
    func url(_ path: [String], query: KeyValuePairs<String, String?> = [:]) -> URL {
        var unreserved = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."\u{7F}"))
        unreserved.insert(charactersIn: "-._~")
        func encoded(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        }
        let parameters = query.compactMap { name, value in value.map { "\(name)=\(encoded($0))" } }
        let base = url.absoluteString.hasSuffix("/") ? String(url.absoluteString.dropLast()) : url.absoluteString
        let text =
            ([base, "api"] + path.map(encoded)).joined(separator: "/")
            + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
        return URL(string: text) ?? url
    }

    /// Sends a call, and decodes its answer.
    ///
    /// - Throws: ``SelfieError``, or `CancellationError` when the task was cancelled.
    func send<Answer: Decodable>(_ call: Call, as _: Answer.Type = Answer.self) async throws -> Answer {
        try decode(Answer.self, from: try await send(call))
    }

    /// Decodes an answer.
    ///
    /// - Throws: ``SelfieError/unexpectedAnswer(status:)`` when it is not what the service answers.
    func decode<Answer: Decodable>(_: Answer.Type, from response: TransportResponse) throws -> Answer {
        do {
            return try JSONCoding.decode(Answer.self, from: response.body)
        } catch {
            // The error may hold parts of the answer.
            log(.warning, "An answer can't be decoded.", ["type": "\(Answer.self)", "status": "\(response.status)"])
            throw SelfieError.unexpectedAnswer(status: response.status)
        }
    }

    /// Sends a call.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - progress: Called with the number of bytes that were sent.
    /// - Returns: The answer.
    /// - Throws: ``SelfieError``, or `CancellationError` when the task was cancelled.
    @discardableResult
    func send(_ call: Call, progress: (@Sendable (Int64) -> Void)? = nil) async throws -> TransportResponse {
        try await sendNotingTries(call, progress: progress).response
    }

    /// Sends a call, and tells whether an earlier try may have done already what was asked for.
    func sendNotingTries(_ call: Call, progress: (@Sendable (Int64) -> Void)? = nil) async throws
        -> (response: TransportResponse, mayBeDoneBefore: Bool)
    {
        do {
            return try await sendNotingFailure(call, progress: progress)
        } catch let failure as FailedCall {
            throw failure.error
        }
    }

    /// Sends a call, and tells whether it may have been done all the same when it fails.
    ///
    /// - Throws: `FailedCall` when there is no answer that the call accepts, ``SelfieError`` when nothing can be sent, or
    ///   `CancellationError`.
    func sendNotingFailure(_ call: Call, progress: (@Sendable (Int64) -> Void)? = nil) async throws
        -> (response: TransportResponse, mayBeDoneBefore: Bool)
    {
        var (call, tries, mayBeDone) = (call, 0, false)
        if case .user = call.authentication, let session = try session(of: call) {
            call.authentication = .userWithID(session.userID)
        }
        var hasNewSession = false
        while true {
            tries += 1
            let session = try session(of: call)
            do {
                return (try await sendOnce(call, session, progress: progress), mayBeDone)
            } catch let failure as FailedCall {
                if failure.mayBeDone { mayBeDone = true }
                if failure.error == .notSignedIn, !hasNewSession, let next = try? self.session(of: call),
                    next != session
                {
                    // Another process has begun it in the same store, or a new password has.
                    hasNewSession = true
                    continue
                }
                guard !call.isTriedOnce, tries < configuration.maxTries, let pause = pause(after: failure, tries, call)
                else { throw FailedCall(error: failure.error, mayBeDone: mayBeDone) }
                try await Task.sleep(for: pause)
                if mayBeDone, let findDone = call.findDone, let response = try await findDone() {
                    return (response, true)
                }
            }
        }
    }

    /// Why a call, or a try of it, has failed.
    struct FailedCall: Error {
        let error: SelfieError
        /// Whether the service may have done what was asked for.
        let mayBeDone: Bool
    }

    /// How long to wait before a call is tried again; nil if that would not help, or might do it twice.
    private func pause(after failure: FailedCall, _ tries: Int, _ call: Call) -> Duration? {
        guard call.isRepeatable || !failure.mayBeDone else { return nil }
        switch failure.error {
        case .unavailable(let wanted?), .tooManyRequests(let wanted?):
            // Not all clients should be back at the same moment.
            return wanted <= configuration.patience ? wanted + .milliseconds(Int.random(in: 0...500)) : nil
        case .interrupted, .unavailable, .tooManyRequests:
            return call.isRepeatable ? Backoff.pause(after: tries) : nil
        default: return nil
        }
    }

    /// Sends a call once.
    ///
    /// - Throws: `FailedCall` when there is no answer that the call accepts, ``SelfieError`` when nothing can be sent, or
    ///   `CancellationError`.
    private func sendOnce(_ call: Call, _ session: Session?, progress: (@Sendable (Int64) -> Void)?) async throws
        -> TransportResponse
    {
        var request = TransportRequest(
            method: call.method,
            url: call.url,
            headers: call.headers,
            body: call.body,
            timeout: call.timeout ?? configuration.timeout,
            maxAnswerBytes: call.maxAnswerBytes,
            followsRedirects: call.followsRedirects
        )
        (request.answerFile, request.backgroundID) = (call.answerFile, call.backgroundID)
        if case .app = call.authentication { request.headers["Authorization"] = credential.header }
        if let session { request.headers["Authorization"] = "Bearer \(session.token.text)" }
        let mayBeDeleted = session.map { folders.mayBeDeleted($0.userID) } ?? false
        let start = ContinuousClock.now
        do {
            let response = try await configuration.transport.send(request, progress: progress)
            log(call, start, status: "\(response.status)", requestID: response.headers["x-request-id"])
            if response.status == 200 || call.alsoAccepts.contains(response.status) {
                // The account is still there, so the call that was to delete it was not done.
                if mayBeDeleted, let session { folders.removeDeletion(of: session.userID) }
                return response
            }
            let error = SelfieError.of(response)
            if error == .notSignedIn, let session { end(session, by: response) }
            throw FailedCall(error: error, mayBeDone: response.mayBeDone)
        } catch let error as TransportError {
            log(call, start, status: "\(error)", requestID: nil)
            throw FailedCall(error: .of(error), mayBeDone: error.mayBeDone)
        }
    }

    /// The session that a call is sent with now; nil if it needs none.
    ///
    /// - Throws: ``SelfieError/notSignedIn`` if nobody, or somebody else, is signed in.
    private func session(of call: Call) throws -> Session? {
        switch call.authentication {
        case .none, .app: return nil
        case .session(let given): return given
        case .user: return try sessions.currentIfSignedIn()
        case .userWithID(let userID):
            let session = try sessions.currentIfSignedIn()
            guard session.userID == userID else { throw SelfieError.notSignedIn }
            return session
        }
    }

    private func end(_ session: Session, by response: TransportResponse) {
        sessions.end(session, response.refusal?.code == "token_expired" ? .expired : .revoked)
    }

    private func log(_ call: Call, _ start: ContinuousClock.Instant, status: String, requestID: String?) {
        guard configuration.log != nil else { return }
        // A query may have a signature. Paths may have a device's token behind `devices`.
        let segments = call.url.path.split(separator: "/").map(String.init)
        let path = segments.enumerated().map { $0 > 0 && segments[$0 - 1] == "devices" ? "…" : $1 }
        var metadata = [
            "method": call.method, "path": "/" + path.joined(separator: "/"), "status": status,
            "milliseconds": "\(Int((ContinuousClock.now - start).seconds * 1000))",
        ]
        metadata["request_id"] = requestID
        log(.debug, "A call was made.", metadata)
    }

    /// Tells the app's log handler.
    func log(_ level: LogEntry.Level, _ message: String, _ metadata: [String: String] = [:]) {
        configuration.log?(LogEntry(level: level, message: message, metadata: metadata))
    }
}

/// Pauses that grow, each of a random length, so that clients do not come back all at once.
enum Backoff {
    /// - Parameters:
    ///   - tries: How many tries have failed, 1 or more.
    ///   - limit: The longest pause.
    /// - Returns: Between a half and the whole of 0.5 s, 1 s, 2 s and so on.
    static func pause(after tries: Int, limit: Duration = .seconds(60)) -> Duration {
        let full = min(.milliseconds(500) * (1 << min(tries - 1, 20)), limit)
        return full * Double.random(in: 0.5...1)
    }
}
