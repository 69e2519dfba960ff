#if canImport(Darwin)
    import Foundation

    /// Uploads of files that the system goes on with while the app is suspended, or was ended by the system.
    ///
    /// The system follows redirects of such requests by itself. It sends no `Authorization` to another host.
    final class BackgroundUploads: Sendable {
        private let session: URLSession
        private let delegate = BackgroundDelegate()

        /// - Parameter identifier: The name of the session. The system brings back its uploads at the app's next start.
        init(identifier: String) {
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.sessionSendsLaunchEvents = true
            configuration.isDiscretionary = false
            configuration.httpCookieStorage = nil
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }

        deinit { session.finishTasksAndInvalidate() }

        /// Uploads a file, or joins its upload that is under way or ended while the app did not run.
        ///
        /// - Parameters:
        ///   - request: What the answer may have.
        ///   - urlRequest: What is sent.
        ///   - file: The body.
        ///   - id: The upload's name.
        ///   - progress: Called with the number of bytes that were sent.
        /// - Returns: The answer.
        /// - Throws: ``TransportError``, or `CancellationError`.
        func send(
            _ request: TransportRequest,
            _ urlRequest: URLRequest,
            file: URL,
            id: String,
            progress: (@Sendable (Int64) -> Void)?
        ) async throws -> TransportResponse {
            // First what runs, then what has ended: an upload that ends in between is among the latter.
            let running = await session.allTasks.first { $0.taskDescription == id && $0.state != .completed }
            // What was begun for a session that has ended since would only bring that session's end again.
            let field = "Authorization"
            func isSameSession(_ task: URLSessionTask) -> Bool {
                task.originalRequest?.value(forHTTPHeaderField: field) == urlRequest.value(forHTTPHeaderField: field)
            }
            if let running, !isSameSession(running) { running.cancel() }
            let transfer: Transfer
            if let known = delegate.take(id), isSameSession(known.task) {
                transfer = known
            } else if let running, isSameSession(running) {
                transfer = delegate.transfer(of: running)
            } else {
                guard FileManager.default.isReadableFile(atPath: file.path) else { throw TransportError.unreadableBody }
                let task = session.uploadTask(with: urlRequest, fromFile: file)
                task.taskDescription = id
                transfer = Transfer(request, task: task)
                delegate.add(transfer)
            }
            defer { delegate.remove(transfer) }
            return try await transfer.response(progress)
        }

        /// Waits until the system has told of all that happened while the app did not run.
        func waitForEvents() async { await delegate.events.waitForEnd() }
    }

    /// Keeps what the system tells of uploads until somebody asks for them.
    private final class BackgroundDelegate: NSObject, URLSessionDataDelegate, Sendable {
        private let transfers = Locked<[Int: Transfer]>([:])
        let events = BackgroundEvents()

        func add(_ transfer: Transfer) {
            transfers.withLock { $0[transfer.task.taskIdentifier] = transfer }
        }

        func remove(_ transfer: Transfer) {
            transfers.withLock { $0[transfer.task.taskIdentifier] = nil }
        }

        /// The transfer of a task, which the app's last run may have started.
        func transfer(of task: URLSessionTask) -> Transfer {
            transfers.withLock { transfers in
                if let known = transfers[task.taskIdentifier] { return known }
                let url = task.originalRequest?.url ?? URL(fileURLWithPath: "/")
                let transfer = Transfer(TransportRequest(method: "POST", url: url), task: task)
                transfers[task.taskIdentifier] = transfer
                return transfer
            }
        }

        /// An upload's transfer, if it is known and has not failed: a failed one is started again.
        func take(_ id: String) -> Transfer? {
            transfers.withLock { transfers in
                guard let transfer = transfers.values.first(where: { $0.task.taskDescription == id }) else {
                    return nil
                }
                guard transfer.hasFailed else { return transfer }
                transfers[transfer.task.taskIdentifier] = nil
                return nil
            }
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession _: URLSession) { events.end() }

        func urlSession(
            _: URLSession,
            task: URLSessionTask,
            didSendBodyData _: Int64,
            totalBytesSent: Int64,
            totalBytesExpectedToSend _: Int64
        ) {
            transfer(of: task).hasSent(totalBytesSent)
        }

        func urlSession(
            _: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            transfer(of: dataTask).receive(response)
            completionHandler(.allow)
        }

        func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            transfer(of: dataTask).receive(data)
        }

        func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            transfer(of: task).complete(error)
        }
    }

    extension Selfie {
        /// Stores what background uploads have brought while the app did not run, and sends what waited for them.
        ///
        /// Call it when the system has started the app for them, and tell the system afterwards. In SwiftUI, that is
        /// `.backgroundTask(.urlSession("com.example.selfies.uploads")) { await selfie.finishBackgroundUploads() }`. It takes
        /// at most 20 seconds, because the system gives little more.
        public func finishBackgroundUploads() async {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await Task.sleep(for: .seconds(20)) }
                group.addTask { [api, outbox] in
                    await (api.configuration.transport as? URLSessionTransport)?.waitForBackgroundEvents()
                    try? await outbox.waitUntilSent()
                }
                await group.next()
                group.cancelAll()
            }
        }
    }
#endif
