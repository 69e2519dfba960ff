import HTTPTypes
import ImageFiles
import JSON
import OrderedCollections
import SelfieAccounts
import SelfiePhotos

/// A call's responses with one status, as OpenAPI has it: the answer to a valid request, refusals, or both.
struct AnswerDescription {
    let answer: Endpoint.Answer?
    let refusals: [ServiceError]
    let form: ServiceError.Form

    var value: JSONValue {
        var members: OrderedDictionary<String, JSONValue> = [
            "description": .string(summary), "headers": .object(headers),
        ]
        if !content.isEmpty { members["content"] = .object(content) }
        return .object(members)
    }

    private var summary: String {
        let codes = refusals.map { "`\($0.code)`" }.joined(separator: ", ")
        return [answer?.summary, refusals.isEmpty ? nil : "Errors: \(codes)."].compactMap(\.self).joined(
            separator: " "
        )
    }

    private var headers: OrderedDictionary<String, JSONValue> {
        var all = [Endpoint.Header.requestID] + (answer?.headers ?? [])
        if refusals.contains(where: { $0.headers[.wwwAuthenticate] != nil }) { all.append(.authenticate) }
        if refusals.contains(where: { $0.status == .rangeNotSatisfiable }) { all.append(.contentRange) }
        if refusals.contains(.tooManyRequests) { all += Endpoint.Header.rateLimit }
        if refusals.contains(where: { $0 == .tooManyRequests || $0.headers[.retryAfter] != nil }) {
            all.append(.retryAfter)
        }
        return OrderedDictionary(
            uniqueKeysWithValues: all.map { header in
                (
                    header.name,
                    [
                        "description": .string(header.summary), "required": .boolean(header.isAlwaysThere),
                        "schema": ["type": "string"], "example": .string(header.example),
                    ]
                )
            }
        )
    }

    private var content: OrderedDictionary<String, JSONValue> {
        switch answer?.body {
        case .photoBytes:
            let types = ImageFormat.allCases.map(\.contentType) + [ServedPhoto.unknownContentType]
            return OrderedDictionary(uniqueKeysWithValues: types.map { ($0, ["schema": [:]]) })
        case .file(let types):
            return OrderedDictionary(
                uniqueKeysWithValues: types.map { type in
                    (type, ["schema": type.hasPrefix("text/") ? ["type": "string"] : [:]])
                }
            )
        case .page(let text):
            return [
                "text/plain": ["schema": ["const": .string(text)], "example": .string(text)],
                "text/html": ["schema": ["type": "string"], "example": "<!DOCTYPE html>…"],
            ]
        case .none? where refusals.isEmpty: return [:]
        case .document, .message, .object, .array, .json, .jsonOrEvents, .none?, nil: break
        }
        var schemas: [JSONValue] = []
        var examples: OrderedDictionary<String, JSONValue> = [:]
        if let (schema, example) = answer?.body.schemaAndExample {
            schemas.append(schema)
            examples["answer"] = ["value": example]
        }
        if let status = refusals.first?.status.code {
            let usual = refusals.filter { Self.form(of: $0, form) == .usual }
            if !usual.isEmpty { schemas.append(Self.refusalSchema(status: status, codes: usual.map(\.code))) }
            if usual.count < refusals.count { schemas.append(Self.dreamFactorySchema(status: status)) }
            for refusal in refusals {
                examples[refusal.code] = ["value": refusal.exampleBody(Self.form(of: refusal, form))]
            }
        }
        let schema = schemas.count == 1 ? schemas[0] : ["anyOf": .array(schemas)]
        var content: OrderedDictionary<String, JSONValue> = [
            "application/json": ["schema": schema, "examples": .object(examples)]
        ]
        if case .jsonOrEvents = answer?.body { content["text/event-stream"] = Self.events }
        return content
    }

    private static let events: JSONValue = [
        "schema": [
            "description": """
            Server-sent events. The data of `change` is an item of `changes`, and its id is the cursor after it. `synced` and \
            `cursor` have only the cursor. `reset` and `end` have the reason, and no id.
            """
        ],
        "example": """
        event: change
        id: AfjD-dbdntHULQAAAQEC
        data: {"type":"deleted","collection":"houses","id":"house-1"}

        event: synced
        id: AfjD-dbdntHULQAAAQEC
        data: {"cursor":"AfjD-dbdntHULQAAAQEC"}


        """,
    ]

    private static func form(of refusal: ServiceError, _ form: ServiceError.Form) -> ServiceError.Form {
        ServiceError.ofConnection.contains(refusal) ? .usual : form
    }

    private static func dreamFactorySchema(status: Int) -> JSONValue {
        let error: JSONValue = [
            "type": "object", "required": ["message", "code"], "additionalProperties": false,
            "properties": ["message": ["type": "string"], "code": ["const": JSONValue(status)]],
        ]
        return [
            "type": "object", "required": ["error"], "additionalProperties": false,
            "properties": ["error": ["type": "array", "items": error]],
        ]
    }

    private static func refusalSchema(status: Int, codes: [String]) -> JSONValue {
        var properties: JSONValue = [
            "status": ["const": JSONValue(status)],
            "message": ["type": "string", "description": "For people."],
            "code": ["enum": JSONValue(codes), "description": "For programs."],
        ]
        if codes.contains(ServiceError.parametersMissing.code) {
            properties = properties.with([
                "parameters": [
                    "type": "array", "items": ["type": "string"], "description": "The parameters that are missing.",
                ]
            ])
        }
        if !Self.codesWithHint.isDisjoint(with: codes) {
            properties = properties.with([
                "hint": ["type": "string", "description": "A possible mistake of the client."]
            ])
        }
        return [
            "type": "object",
            "required": ["status", "message", "code"],
            "additionalProperties": false,
            "properties": properties,
        ]
    }
}

extension AnswerDescription {
    /// The codes of refusals that may have a hint.
    ///
    /// A client gets one when it sends JSON and says that it is a form.
    private static let codesWithHint: Set = [
        ServiceError.parametersMissing.code, ServiceError.malformedParameters.code,
        ServiceError.tooManyParameters.code, ServiceError.unfitName.code,
    ]
}

extension ServiceError {
    fileprivate func exampleBody(_ form: Form) -> JSONValue {
        switch form {
        case .usual: ["status": JSONValue(status.code), "message": .string(message), "code": .string(code)]
        case .dreamFactory: ["error": [["message": .string(message), "code": JSONValue(status.code)]]]
        }
    }
}

extension Endpoint.Answer.Body {
    /// A JSON body's schema and an example; nil for other bodies.
    var schemaAndExample: (schema: JSONValue, example: JSONValue)? {
        switch self {
        case .none, .photoBytes, .file, .page: nil
        case .document:
            (
                ["type": "object", "required": ["openapi", "info", "paths"]],
                ["openapi": "3.1.0", "info": [:], "paths": [:]]
            )
        case .message(let text):
            (
                [
                    "type": "object", "required": ["status", "message"], "additionalProperties": false,
                    "properties": ["status": ["const": 200], "message": ["const": .string(text)]],
                ],
                ["status": 200, "message": .string(text)]
            )
        case .object(let members): (Self.schema(of: members), Self.example(of: members))
        case .json(let schema, let example), .jsonOrEvents(let schema, let example): (schema, example)
        case .array(let members):
            (["type": "array", "items": Self.schema(of: members)], [Self.example(of: members)])
        }
    }

    static func schema(of members: [Endpoint.Answer.Member]) -> JSONValue {
        [
            "type": "object",
            "required": JSONValue(members.filter(\.isAlwaysThere).map(\.name)),
            "additionalProperties": false,
            "properties": .object(
                OrderedDictionary(
                    uniqueKeysWithValues: members.map { member in
                        (member.name, member.kind.schema.with(["description": .string(member.summary)]))
                    }
                )
            ),
        ]
    }

    static func example(of members: [Endpoint.Answer.Member]) -> JSONValue {
        .object(OrderedDictionary(uniqueKeysWithValues: members.map { ($0.name, $0.example) }))
    }
}
