import HTTPTypes
import JSON
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
        let sending = collection.access == .inbox ? RecordEndpoints.inbox : []
        return (sending + RecordEndpoints.common).map { endpoint(of: $0.description) }
    }

    private func endpoint(of general: Endpoint) -> Endpoint {
        var parameters = general.parameters.filter { $0.name != Endpoint.Parameter.collection.name }
        if collection.indexes.isEmpty { parameters.removeAll { $0.name == Endpoint.Parameter.where.name } }
        parameters = parameters.map { parameter in example(of: parameter).map(parameter.with(example:)) ?? parameter }
        if collection.references.isEmpty { parameters.removeAll { $0.name == Endpoint.Parameter.include.name } }
        var endpoint = general
        endpoint.name = "\(general.name)_\(collection.name)"
        endpoint.collection = collection.name
        endpoint.topic = .collections
        endpoint.path = general.path.replacing(":\(Endpoint.Parameter.collection.name)", with: collection.name)
        endpoint.summary = "\(general.summary): \(collection.name)"
        endpoint.details = [general.details, rules].filter { !$0.isEmpty }.joined(separator: "\n\n")
        endpoint.parameters = parameters
        endpoint.body = general.body.map { _ in body(of: general) }
        endpoint.answers = general.answers.map { $0.with(recordExample, insteadOf: RecordJSON.recordExample) }
        return endpoint
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
            validationErrors: general.body?.validationErrors ?? []
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
        let schema = field.type.jsonSchema
        return field.isRequired || field.type == .json ? schema : ["anyOf": [schema, ["type": "null"]]]
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
    /// The same answer, whose example has a collection's own sample instead of the general one.
    fileprivate func with(_ example: JSONValue, insteadOf general: JSONValue) -> Endpoint.Answer {
        guard case .json(let schema, let whole) = body else { return self }
        let own = Body.json(schema: schema, example: whole.replacing(general, with: example))
        return Endpoint.Answer(status, summary, own, headers: headers)
    }
}

extension JSONValue {
    /// The same, with each occurrence of a value replaced.
    fileprivate func replacing(_ old: JSONValue, with new: JSONValue) -> JSONValue {
        if self == old { return new }
        return switch self {
        case .object(let members): .object(members.mapValues { $0.replacing(old, with: new) })
        case .array(let elements): .array(elements.map { $0.replacing(old, with: new) })
        default: self
        }
    }
}
