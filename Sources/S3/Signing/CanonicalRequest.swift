import Encodings
import NIOHTTP1

/// Step 1 of Signature Version 4: one spelling of a request, which both sides hash.
///
/// Source: AWS, "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk".
struct CanonicalRequest: Sendable, Hashable {
    /// The query as it is signed and sent: encoded, then sorted by name and value.
    let query: String
    /// The signed headers' names: lower case, sorted, joined by `;`.
    let signedHeaders: String
    /// The whole canonical request, lines ended by `\n`.
    let text: String

    /// Builds the canonical form.
    ///
    /// - Parameter request: the request; of its headers all are signed.
    init(_ request: UnsignedRequest) {
        query = Self.canonicalQuery(request.query)
        let headers = Self.canonicalHeaders(request.headers)
        signedHeaders = headers.map(\.name).joined(separator: ";")
        let headerLines = headers.map { "\($0.name):\($0.value)\n" }.joined()
        text = [
            request.method, request.encodedPath, query, headerLines, signedHeaders, request.payloadHash,
        ].joined(separator: "\n")
    }

    /// Sorting comes after encoding: otherwise `a-b` and `a b` would be in the wrong order (`%20` sorts before `-`).
    private static func canonicalQuery(_ items: [QueryItem]) -> String {
        items
            .map { (name: PercentEncoding.string(of: $0.name), value: PercentEncoding.string(of: $0.value)) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name)=\($0.value)" }
            .joined(separator: "&")
    }

    private static func canonicalHeaders(_ headers: HTTPHeaders) -> [(name: String, value: String)] {
        var values: [String: [String]] = [:]
        for (name, value) in headers {
            values[name.lowercased(), default: []].append(collapsingSpaces(value))
        }
        return
            values
            .map { (name: $0.key, value: $0.value.joined(separator: ",")) }
            .sorted { $0.name < $1.name }
    }

    /// By scalars: to Swift, a space and a combining mark are one `Character`; to the store, they are two.
    private static func collapsingSpaces(_ value: String) -> String {
        value.unicodeScalars.split { $0 == " " || $0 == "\t" }.map { String($0) }.joined(separator: " ")
    }
}
