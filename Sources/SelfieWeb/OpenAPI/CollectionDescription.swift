import Encodings
import HTTPTypes
import OrderedCollections
import RecordSchema

/// The calls of one collection, as calls of their own with its fields.
///
/// The router knows only the general ones.
struct CollectionDescription {
    private let collection: RecordCollection
    /// The fields that new records of other collections set.
    private let setFields: [String]

    init(of collection: RecordCollection, in schema: Schema) {
        self.collection = collection
        setFields = schema.setFields(of: collection.name)
    }

    /// The descriptions of the collection's calls.
    var endpoints: [Endpoint] {
        let general = collection.access == .inbox ? RecordEndpoints.inbox + own : RecordEndpoints.common
        return general.map { endpoint(of: $0.description) }
    }

    /// Of one's own inbox, other calls than those of sending.
    private var own: [HandledEndpoint<RecordEndpoints>] { RecordEndpoints.common }

    private func endpoint(of general: Endpoint) -> Endpoint {
        var parameters = general.parameters.filter { $0.name != Endpoint.Parameter.collection.name }
        if collection.indexes.isEmpty { parameters.removeAll { $0.name == Endpoint.Parameter.where.name } }
        parameters = parameters.map { parameter in example(of: parameter).map(parameter.with(example:)) ?? parameter }
        if collection.references.isEmpty { parameters.removeAll { $0.name == Endpoint.Parameter.include.name } }
        return Endpoint(
            name: "\(general.name)_\(collection.name)",
            collection: collection.name,
            topic: .collections,
            method: general.method,
            path: general.path.replacing(":\(Endpoint.Parameter.collection.name)", with: collection.name),
            authentication: general.authentication,
            changesState: general.changesState,
            summary: "\(general.summary): \(collection.name)",
            details: [general.details, rules].filter { !$0.isEmpty }.joined(separator: "\n\n"),
            rateLimits: general.rateLimits,
            headers: general.headers,
            parameters: parameters,
            body: general.body.map { _ in body(of: general) },
            answers: general.answers.map { $0.with(recordExample, insteadOf: RecordJSON.recordExample) },
            refusals: general.refusals
        )
    }

    /// The collection's own example of a parameter; nil where the general one will do.
    private func example(of parameter: Endpoint.Parameter) -> String? {
        switch parameter.name {
        case Endpoint.Parameter.where.name:
            collection.indexes.first.map { name in
                (JSONValue.object([name: collection.field(name)?.type.example ?? "a text"])).text
            }
        case Endpoint.Parameter.include.name: collection.references.first?.field
        case Endpoint.Parameter.recordID.name: "an-id"
        case Endpoint.Parameter.recordIDs.name: "an-id,another-id"
        case Endpoint.Parameter.recordAfter.name: "an-id,1795514400000000"
        default: nil
        }
    }

    private var rules: String {
        let role = collection.role.map { " of the role `\($0)`" } ?? ""
        let indexes = collection.indexes.isEmpty ? "none" : collection.indexes.map { "`\($0)`" }.joined(separator: ", ")
        return "Access: `\(collection.access.rawValue)`\(role). Indexes: \(indexes)."
    }

    private func body(of general: Endpoint) -> Endpoint.JSONBodyDescription {
        let isPatch = general.method == .patch
        let data = isPatch ? patchSchema : dataSchema
        let (schema, example): (JSONValue, JSONValue) =
            switch (general.method, general.path.hasSuffix(":id")) {
            case (.post, _):
                (
                    ["anyOf": [RecordJSON.new(data: data), RecordJSON.many(RecordJSON.new(data: data))]],
                    ["data": dataExample]
                )
            case (.patch, false):
                (
                    RecordJSON.many(RecordJSON.change(isOfMany: true, data: data)),
                    [["id": "an-id", "data": dataExample]]
                )
            case (.patch, true): (RecordJSON.change(isOfMany: false, data: data), ["data": dataExample])
            default: (RecordJSON.put(data: data), ["data": dataExample])
            }
        return Endpoint.JSONBodyDescription(
            general.body?.summary ?? "",
            schema: schema,
            example: example,
            complaints: general.body?.complaints ?? []
        )
    }

    private var dataSchema: JSONValue {
        guard let fields = collection.fields else { return RecordJSON.anyData }
        return [
            "type": "object",
            "required": JSONValue(fields.filter(\.isRequired).map(\.name)),
            "properties": .object(
                OrderedDictionary(
                    uniqueKeysWithValues: fields.map { ($0.name, schema(of: $0)) }
                )
            ),
            "additionalProperties": .boolean(collection.isOpen),
        ]
    }

    private func schema(of field: Field) -> JSONValue {
        if setFields.contains(field.name), case .reference(let child) = field.type {
            return ["description": .string("The id of the newest record in \(child). Ignored in requests.")]
        }
        return field.isRequired ? field.type.schema : field.type.schemaOrNull
    }

    /// A merge patch may take each field away that is not required.
    private var patchSchema: JSONValue {
        collection.fields == nil ? RecordJSON.anyData : dataSchema.with(["required": []])
    }

    /// A record of the collection, as answers have it.
    private var recordExample: JSONValue {
        RecordJSON.recordExample.with(["id": "an-id", "collection": .string(collection.name), "data": dataExample])
    }

    private var dataExample: JSONValue {
        let shown = (collection.fields ?? []).filter { !$0.type.isLink || $0.isRequired }
        return .object(OrderedDictionary(uniqueKeysWithValues: shown.map { ($0.name, $0.type.example) }))
    }
}

extension Endpoint.Answer {
    /// The same answer, whose example has a collection's own sample in place of the general one.
    fileprivate func with(_ example: JSONValue, insteadOf general: JSONValue) -> Endpoint.Answer {
        guard case .json(let schema, let whole) = body else { return self }
        let own = Body.json(schema: schema, example: whole.replacing(general, with: example))
        return Endpoint.Answer(status, summary, own, headers: headers)
    }
}

extension JSONValue {
    /// The same with another value in the place of one, wherever that is.
    fileprivate func replacing(_ old: JSONValue, with new: JSONValue) -> JSONValue {
        if self == old { return new }
        return switch self {
        case .object(let members): .object(members.mapValues { $0.replacing(old, with: new) })
        case .array(let elements): .array(elements.map { $0.replacing(old, with: new) })
        default: self
        }
    }
}

extension FieldType {
    /// Whether it names something that must be there.
    fileprivate var isLink: Bool {
        switch self {
        case .member, .reference, .photo: true
        case .string, .integer, .number, .boolean, .timestamp, .json: false
        }
    }

    /// Its values as JSON Schema.
    fileprivate var schema: JSONValue {
        switch self {
        case .string(let max):
            (["type": "string", "pattern": #"^[^\u0000]*$"#] as JSONValue).with(
                max.map { ["maxLength": JSONValue($0)] } ?? [:]
            )
        case .integer:
            ["type": "integer", "minimum": .number("\(Int.min)"), "maximum": .number("\(Int.max)")]
        case .number: ["type": "number"]
        case .boolean: ["type": "boolean"]
        case .timestamp: ["type": "string", "format": "date-time"]
        case .json: [:]
        case .member: ["type": "string", "description": "The id of a member."]
        case .reference(let collection):
            RecordJSON.id.with(["description": .string("The id of a record in \(collection).")])
        case .photo: ["type": "string", "description": "The `random_id` of one of your photos."]
        }
    }

    fileprivate var schemaOrNull: JSONValue {
        self == .json ? schema : ["anyOf": [schema, ["type": "null"]]]
    }

    fileprivate var example: JSONValue {
        switch self {
        case .string(let max): .string(String("a text".prefix(max ?? .max)))
        case .integer: 3
        case .number: .number("2.5")
        case .boolean: true
        case .timestamp: "2026-11-24T10:00:00Z"
        case .json: [:]
        case .member: .string(Endpoint.Answer.Member.memberID)
        case .reference: "an-id"
        case .photo: "Xk3vQ8EJt5nWm2Yb7LhRs9DkPz4GfUu6BoTiNaQw1cd"
        }
    }
}
