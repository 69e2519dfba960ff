import Foundation
import SelfieClient

/// A request as the calls read it.
struct ServiceRequest: Sendable {
    let method: String
    /// The decoded segments of the path.
    let path: [String]
    let query: [String: String]
    /// By their names in lower case.
    let headers: [String: String]
    let body: Data

    /// Reads a request with its whole body.
    ///
    /// - Throws: `TransportError.unreadableBody`.
    init(_ request: TransportRequest) throws(TransportError) {
        method = request.method
        headers = Dictionary(request.headers.map { ($0.lowercased(), $1) }) { $1 }
        let components = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
        path = (components?.percentEncodedPath ?? "").split(separator: "/").map { segment in
            String(segment).removingPercentEncoding ?? String(segment)
        }
        query = Dictionary((components?.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
        switch request.body {
        case .none: body = Data()
        case .data(let data): body = data
        case .file(let file):
            guard let data = try? Data(contentsOf: file) else { throw .unreadableBody }
            body = data
        }
    }

    /// The body as JSON.
    var json: JSONValue {
        get throws {
            guard let value = try? JSONCoding.decode(JSONValue.self, from: body) else {
                throw ServiceRefusal.jsonMalformed
            }
            return value
        }
    }

    /// The parameters of the query and of a JSON body; the query wins.
    var parameters: RequestParameters {
        get throws {
            var values: [String: JSONValue] = [:]
            if !body.isEmpty, case .object(let members) = try json { values = members }
            return RequestParameters(values: values.merging(query.mapValues { .string($0) }) { $1 })
        }
    }

    /// The words of a list with commas in the query, each once.
    ///
    /// - Parameters:
    ///   - name: The parameter's name.
    ///   - max: The most words.
    /// - Returns: nil if it is not there.
    /// - Throws: A refusal if a word is empty, or there are too many.
    func list(_ name: String, max: Int) throws(ServiceRefusal) -> [String]? {
        guard let text = query[name] else { return nil }
        var seen: Set<String> = []
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            .filter { seen.insert($0).inserted }
        guard words.count <= max, !words.contains("") else {
            throw .invalid(name, valid: "1 to \(max) comma-separated ids")
        }
        return words
    }

    /// A whole number in the query.
    ///
    /// - Returns: nil if it is not there.
    /// - Throws: A refusal if it is not in the range.
    func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = query[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ServiceRefusal.invalid(name, valid: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

/// The parameters of a call.
struct RequestParameters: Sendable {
    let values: [String: JSONValue]

    /// A text; nil if it is missing.
    subscript(name: String) -> String? { values[name]?.text }

    func require(_ name: String) throws -> String {
        guard let text = self[name] else { throw ServiceRefusal.parametersMissing }
        return text
    }

    /// Whether a flag is set; `otherwise` if it is missing.
    func flag(_ name: String, otherwise: Bool = false) throws -> Bool {
        switch values[name] {
        case nil, .null?: return otherwise
        case .bool(let value)?: return value
        case .string("true")?: return true
        case .string("false")?: return false
        default: throw ServiceRefusal.invalid(name, valid: "true or false")
        }
    }
}
