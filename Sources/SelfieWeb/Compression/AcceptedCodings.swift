import Encodings

/// The codings of `Accept-Encoding` (RFC 9110, section 12.5.3).
struct AcceptedCodings {
    /// Whether gzip may be sent.
    let hasGzip: Bool

    init(_ header: String?) {
        var isAccepted: [ProtocolWord: Bool] = [:]
        for entry in (header ?? "").utf8.split(separator: UInt8(ascii: ",")) {
            let parts = entry.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            isAccepted[ProtocolWord(parts[0])] = !parts.dropFirst().contains(where: Self.isZeroWeight)
        }
        hasGzip = isAccepted["gzip"] ?? isAccepted["x-gzip"] ?? isAccepted["*"] ?? false
    }

    /// Whether a parameter is `q=0`, with any number of decimals that are 0.
    private static func isZeroWeight(_ parameter: Substring.UTF8View) -> Bool {
        let parts = parameter.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
        guard parts.count == 2, ProtocolWord(parts[0]) == "q" else { return false }
        let zero: ProtocolWord = "0"
        let value = parts[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(value.count), ProtocolWord(value[0]) == zero else { return false }
        return value.count == 1 || value[1].allSatisfy { [UInt8(ascii: "0"), UInt8(ascii: " ")].contains($0) }
    }
}
