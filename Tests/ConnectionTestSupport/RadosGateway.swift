import Synchronization

/// Answers as Ceph's radosgw 16.2 does: a missing bucket before the object's body has come, and no region by that name.
package final class RadosGateway: Sendable {
    private let state = Mutex((hasBucket: false, keys: Set<String>()))

    /// For ``ScriptedServer``: enough for each test.
    package var replies: [ScriptedServer.Reply] {
        [ScriptedServer.Reply](repeating: .decide { self.reply(to: $0) }, count: 1_000)
    }

    /// The keys of the objects that it has taken, sorted.
    package var keys: [String] { state.withLock { $0.keys.sorted() } }

    private let maxObjectCount: Int

    /// - Parameter maxObjectCount: Further ones are refused.
    package init(maxObjectCount: Int = .max) {
        self.maxObjectCount = maxObjectCount
    }

    private func reply(to request: ScriptedServer.Request) -> ScriptedServer.Reply {
        let method = request.line.prefix { $0 != " " }
        let path = request.target.prefix { $0 != "?" }.split(separator: "/")
        if method == "PUT", path.count == 1 {
            guard request.headers["content-length"] ?? "0" == "0" else {
                return .send(.failure("400 Bad Request", code: "InvalidLocationConstraint"))
            }
            state.withLock { $0.hasBucket = true }
            return .send(.answer("200 OK"))
        }
        guard state.withLock(\.hasBucket) else {
            let document = "<Error><Code>NoSuchBucket</Code></Error>"
            let head = "HTTP/1.1 404 Not Found\r\nContent-Length: \(document.utf8.count)\r\n\r\n"
            if method == "HEAD" { return .send(head) }
            return .sendEarlyInTwo(head, pause: .milliseconds(5), document)
        }
        switch method {
        case "PUT":
            let isTaken = state.withLock { state in
                guard state.keys.count < maxObjectCount else { return false }
                return state.keys.insert(path.dropFirst().joined(separator: "/")).inserted
            }
            return .send(isTaken ? .stored : .failure("403 Forbidden", code: "QuotaExceeded"))
        case "HEAD": return .send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        default: return .send(.answer("200 OK", body: "<ListBucketResult/>"))
        }
    }
}
