import NIOCore

/// The rest of a body that is arriving.
enum ArrivingBody: Equatable {
    /// So many bytes, as the request's `Content-Length` says.
    case bytes(Int)
    case chunks
}

/// How much of a body has arrived, and how long the server has waited for the client.
struct BodyTime {
    /// Nil for a body in chunks.
    let announcedBytes: Int?
    private(set) var arrivedBytes = 0
    private var waited = TimeAmount.zero

    init(announcedBytes: Int?) {
        self.announcedBytes = announcedBytes
    }

    var arriving: ArrivingBody {
        announcedBytes.map { .bytes(max($0 - arrivedBytes, 1)) } ?? .chunks
    }

    mutating func arrived(bytes: Int) {
        arrivedBytes += bytes
    }

    /// Counts time in which the client could have sent more.
    ///
    /// It is true when the body has taken too long. The time begins anew then.
    mutating func isOver(waited time: TimeAmount, _ limits: ConnectionLimits) -> Bool {
        waited = waited + time
        let seconds = (announcedBytes ?? arrivedBytes) / limits.minBodyBytesPerSecond
        guard waited >= max(limits.bodyTimeout, .seconds(Int64(seconds))) else { return false }
        waited = .zero
        return true
    }
}
