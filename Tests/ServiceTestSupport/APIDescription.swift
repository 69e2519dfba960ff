import ConnectionTestSupport
import Foundation
import HTTPTypes
package import JSON
package import OrderedCollections
import SelfieConfiguration
import SelfieWeb

/// The API's document, which answers are checked against.
package enum APIDescription {
    /// The document of a service with the usual settings.
    package static let document = OpenAPIDocument(of: Routes.endpoints, settings: settings).value

    private static let settings: ServiceConfiguration = {
        let objects = TestObjects.disk(URL(filePath: "/"))
        let values = TestService.settings(databaseURL: "postgresql://localhost/selfie", objects: objects)
        do {
            return try ServiceConfiguration(from: ConfigurationSource(values: values), outbox: "outbox")
        } catch {
            fatalError("\(error)")
        }
    }()

    /// What the document lacks about an answer; nil when it describes all.
    static func problem(with answer: HTTPAnswer, of endpoint: Endpoint, isHead: Bool) -> String? {
        let operation = document["paths"]?[template(of: endpoint)]?[endpoint.method.rawValue.lowercased()]
        guard let responses = operation?["responses"] else { return "the call is not described" }
        guard let response = responses["\(answer.status)"] else { return "the status is not described" }
        for (name, header) in response["headers"]?.members ?? [:] {
            if header["required"] == true, answer.headers[name.lowercased()] == nil { return "it lacks \(name)" }
        }
        let described = Set((response["headers"]?.members?.keys ?? []).map { $0.lowercased() })
        if let name = describedHeaders.subtracting(described).first(where: { answer.headers[$0] != nil }) {
            return "it has \(name), which is not described there"
        }
        guard let contents = response["content"]?.members else {
            return answer.body.isEmpty ? nil : "it has a body"
        }
        let mediaType = String(answer.headers["content-type"]?.prefix { $0 != ";" } ?? "")
        guard let content = contents[mediaType] else { return "the type \(mediaType) is not described" }
        // A photo may have any bytes.
        guard !isHead, let schema = content["schema"], schema.members?.isEmpty == false else { return nil }
        let value: JSONValue
        if mediaType == "application/json" {
            guard let parsed = try? JSONValue.parse(stored: beginning(of: answer.body)) else {
                return "the body is no JSON"
            }
            value = parsed
        } else {
            value = .string(answer.text)
        }
        return JSONSchema.problem(with: value, schema)
    }

    /// All headers that some answer is described with.
    private static let describedHeaders: Set<String> = {
        let operations = (document["paths"]?.members ?? [:]).values.flatMap { $0.members?.values.map(\.self) ?? [] }
        let answers = operations.flatMap { $0["responses"]?.members?.values.map(\.self) ?? [] }
        return Set(answers.flatMap { $0["headers"]?.members?.keys.map { $0.lowercased() } ?? [] })
    }()

    /// The bytes of a body that are checked: of a list of thousands of photos, those of the first hundred or so.
    ///
    /// A debug build takes seconds for all of them.
    private static func beginning(of body: Data) -> Data {
        guard body.count > maxCheckedBytes, body.first == UInt8(ascii: "["),
            let end = body.prefix(maxCheckedBytes).range(of: Data("},{".utf8), options: .backwards)
        else { return body }
        return body[..<end.lowerBound] + Data("}]".utf8)
    }

    private static let maxCheckedBytes = 40_000

    private static func template(of endpoint: Endpoint) -> String {
        endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }.joined(separator: "/")
    }
}

extension JSONValue {
    /// The members of an object; nil for other values.
    package var members: OrderedDictionary<String, JSONValue>? {
        if case .object(let members) = self { members } else { nil }
    }

    /// A member of an object; nil when there is none.
    package subscript(name: String) -> JSONValue? { members?[name] }
}
