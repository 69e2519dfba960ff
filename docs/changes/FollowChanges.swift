import Foundation

/// Follows changes until the session has ended or the task is cancelled.
///
/// - Parameters:
///   - service: The URL of the service.
///   - token: The user's token.
///   - cursor: The saved cursor; nil to start with everything the user can see.
///   - onChange: Gets each change as JSON, and the cursor to save with it.
///   - onCursor: Gets a cursor to save instead of the last one. There were only changes that this user does not get.
///   - onReset: Deletes the app's copies, and its cursor.
func followChanges(
    of service: URL,
    token: String,
    after cursor: String?,
    onChange: (_ change: Data, _ cursor: String) async throws -> Void,
    onCursor: (_ cursor: String) async throws -> Void,
    onReset: () async throws -> Void
) async throws {
    var (cursor, pause) = (cursor, 3000.0)
    while true {
        var request = URLRequest(url: service.appendingPathComponent("api/changes"))
        // The service sends something every 15 seconds. After a longer silence, the connection is dead.
        request.timeoutInterval = 45
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        if let cursor { request.setValue(cursor, forHTTPHeaderField: "Last-Event-ID") }
        var wait = 0.0
        do {
            let (bytes, response) = try await URLSession.shared.bytes(for: request)
            let answer = response as? HTTPURLResponse
            if answer?.statusCode == 401 { return }
            if let status = answer?.statusCode, status == 400 || status == 404 { throw CocoaError(.coderInvalidValue) }
            wait = Double(answer?.value(forHTTPHeaderField: "Retry-After") ?? "") ?? 0
            var (line, event): ([UInt8], [String: String]) = ([], [:])
            // `bytes.lines` would also split at characters such as U+2028.
            for try await byte in bytes where answer?.statusCode == 200 {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                let parts = String(decoding: line, as: UTF8.self).split(separator: ": ", maxSplits: 1)
                line = []
                if parts.count == 2 { event[String(parts[0])] = String(parts[1]) }
                guard parts.isEmpty else { continue }
                // A blank line ends an event.
                if let retry = event["retry"].flatMap(Double.init) { pause = retry }
                if event["event"] == "change", let data = event["data"], let id = event["id"] {
                    try await onChange(Data(data.utf8), id)
                } else if let id = event["id"] {
                    try await onCursor(id)
                }
                if event["event"] == "reset" {
                    try await onReset()
                    cursor = nil
                }
                cursor = event["id"] ?? cursor
                event = [:]
            }
        } catch is URLError {
            // Retries when there is no network.
        }
        try await Task.sleep(nanoseconds: UInt64(max(pause, wait * 1000) * 1_000_000))
    }
}
