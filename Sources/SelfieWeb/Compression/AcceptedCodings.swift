import Encodings

/// The codings of `Accept-Encoding` (RFC 9110, section 12.5.3).
struct AcceptedCodings {
    /// Whether gzip may be sent.
    let hasGzip: Bool

    init(_ header: String?) {
        let isAccepted = (header ?? "").split(separator: ",").reduce(into: [String: Bool]()) { codings, entry in
            let parts = entry.lowercased().split(separator: ";").map { $0.trimmingWhitespace() }
            guard let coding = parts.first else { return }
            codings[coding] = !parts.dropFirst().contains { $0.wholeMatch(of: /q\s*=\s*0(\.0*)?/) != nil }
        }
        hasGzip = isAccepted["gzip"] ?? isAccepted["x-gzip"] ?? isAccepted["*"] ?? false
    }
}
