import Algorithms
import Budgets
import Encodings
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import SelfieAccounts
import SelfieRecords

/// Changes as server-sent events (HTML, section 9.2).
///
/// The next changes are read when the client has taken those before. So a client that is slow costs one batch, and no queue.
struct EventStream: Sendable {
    let query: ChangeQuery
    let start: ChangeQuery.Start
    let session: Session
    let follow: FollowChanges
    let writer: ChangeWriter
    let metrics: ChangeMetrics
    /// For as long as it lasts.
    let permit: Permit<Int>

    private static let contentType = "text/event-stream"
    /// After how many milliseconds a client connects again.
    private static let retryMilliseconds = 1_000...4_000
    /// How long it lasts, so that clients spread over the processes again.
    private static let lifetimeSeconds = 3_240...3_960
    /// A comment.
    ///
    /// Only the blank line makes an event of it that clients take in.
    private static let heartbeat = ":\n\n"

    /// Whether a request asks for one.
    static func isWanted(by headers: HTTPFields) -> Bool {
        ProtocolWord.list(headers[.accept] ?? "").contains(ProtocolWord(contentType.utf8))
    }

    /// The answer, which lasts until the client leaves or the stream ends.
    ///
    /// - Parameter context: The request's connection.
    /// - Returns: The answer.
    func response(context: SessionRequestContext) -> Response {
        context.notes.noteStreaming()
        var headers: HTTPFields = [.contentType: Self.contentType, .cacheControl: "no-store"]
        // nginx holds answers back otherwise.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { body in
                let follower = follow(
                    query,
                    from: start,
                    of: session.userID,
                    session: session,
                    for: .seconds(Int.random(in: Self.lifetimeSeconds))
                )
                try await body.write(ByteBuffer(string: "retry: \(Int.random(in: Self.retryMilliseconds))\n\n"))
                var isOver = false
                while !isOver {
                    let (bytes, changeCount, isLast) = content(of: try await follower.next())
                    isOver = isLast
                    try await body.write(bytes)
                    if changeCount > 0 { metrics.delivered(changeCount, since: follower.wakeTime) }
                }
                try await body.finish(nil)
                withExtendedLifetime(permit) {}
            }
        )
    }

    /// The bytes of an event, and its number of changes.
    ///
    /// A slow client may take long to receive it. So nothing else of the event stays in memory until then.
    private func content(of event: ChangeFollower.Event) -> (bytes: ByteBuffer, changeCount: Int, isLast: Bool) {
        var changeCount = 0
        switch event {
        case .changes(let batch): changeCount = batch.changes.count
        case .reset(let reset): metrics.reset(reset)
        case .synced, .cursor, .nothing, .end: break
        }
        return (bytes(of: event), changeCount, event.isLast)
    }

    private func bytes(of event: ChangeFollower.Event) -> ByteBuffer {
        switch event {
        case .changes(let batch): changes(of: batch)
        case .synced(let cursor): Self.event("synced", id: cursor.text) { $0.member("cursor", cursor.text) }
        case .cursor(let cursor): Self.event("cursor", id: cursor.text) { $0.member("cursor", cursor.text) }
        case .nothing: ByteBuffer(string: Self.heartbeat)
        // Without an id, the client's last one stays.
        case .reset(let reset): Self.event("reset", id: nil) { $0.member("reason", reset.rawValue) }
        case .end(let end): Self.event("end", id: nil) { $0.member("reason", end.rawValue) }
        }
    }

    private func changes(of batch: ChangeBatch) -> ByteBuffer {
        var bytes = ByteBuffer()
        for (change, cursor) in zip(batch.changes, batch.cursors) {
            bytes.writeString("event: change\nid: \(cursor.text)\ndata: ")
            var json = JSONWriter()
            writer.write(change, to: &json)
            var text = json.buffer
            bytes.writeBuffer(&text)
            bytes.writeString("\n\n")
        }
        return bytes
    }

    private static func event(
        _ name: String,
        id: String?,
        _ members: (inout JSONWriter) -> Void
    ) -> ByteBuffer {
        var json = JSONWriter()
        json.object(members)
        return ByteBuffer(string: "event: \(name)\n\(id.map { "id: \($0)\n" } ?? "")data: \(json.string)\n\n")
    }
}
