import Foundation

/// Follows what changes, until the session is over or the task is cancelled.
///
/// - Parameters:
///   - service: Where the service is.
///   - token: The user's token.
///   - cursor: The cursor that was kept; nil to begin with all there is.
///   - onChange: Gets each change as JSON, and the cursor to keep with it.
///   - onReset: Throws away what the app has, and its cursor.
func followChanges(
    of service: URL,
    token: String,
    after cursor: String?,
    onChange: (_ change: Data, _ cursor: String) async throws -> Void,
    onReset: () async throws -> Void
) async throws {
    var (cursor, pause) = (cursor, 3000.0)
    while true {
        var request = URLRequest(url: service.appendingPathComponent("api/changes"))
        // The service says something every 15 seconds, so a longer silence is the end.
        request.timeoutInterval = 45
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        if let cursor { request.setValue(cursor, forHTTPHeaderField: "Last-Event-ID") }
        do {
            let (bytes, response) = try await URLSession.shared.bytes(for: request)
            switch (response as? HTTPURLResponse)?.statusCode {
            case 401: return
            case 200:
                var (event, id): (String, String?) = ("", nil)
                // `lines` leaves out the blank line that ends an event. Its last line is `data`.
                for try await line in bytes.lines {
                    let parts = line.split(separator: ": ", maxSplits: 1).map { String($0) }
                    guard parts.count == 2 else { continue }
                    switch parts[0] {
                    case "retry": pause = Double(parts[1]) ?? pause
                    case "event": (event, id) = (parts[1], nil)
                    case "id": id = parts[1]
                    case "data":
                        if event == "change", let id { try await onChange(Data(parts[1].utf8), id) }
                        if event == "reset" {
                            try await onReset()
                            cursor = nil
                        }
                        cursor = id ?? cursor
                    default: break
                    }
                }
            default: break
            }
        } catch is URLError {
            // Without a network, it is tried again.
        }
        try await Task.sleep(nanoseconds: UInt64(pause * 1_000_000))
    }
}
