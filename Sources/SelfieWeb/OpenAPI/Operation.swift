import HTTPTypes
import JSON
import OrderedCollections
import SelfieAccounts
import SelfieConfiguration

/// The description of a call, as OpenAPI has it.
struct Operation {
    let endpoint: Endpoint
    let settings: ServiceConfiguration

    var value: JSONValue {
        var members: OrderedDictionary<String, JSONValue> = [
            "operationId": .string(endpoint.name),
            "tags": [.string(endpoint.topic.rawValue)],
            "summary": .string(endpoint.summary),
        ]
        // For pages, which put the calls of a collection together, and leave out what only the gallery's pages call.
        if let collection = endpoint.collection { members["x-collection"] = .string(collection) }
        if endpoint.authentication.isForOwnPages { members["x-internal"] = true }
        let details = ([endpoint.details] + limits).filter { !$0.isEmpty }.joined(separator: "\n\n")
        if !details.isEmpty { members["description"] = .string(details) }
        members["security"] = security
        if !parameters.isEmpty { members["parameters"] = .array(parameters) }
        members["requestBody"] = requestBody
        members["responses"] = .object(responses)
        return .object(members)
    }

    private var security: JSONValue {
        switch endpoint.authentication {
        case .public: []
        case .basic: [["apiCredential": []]]
        case .token: [["token": []]]
        case .dreamFactory: [["sessionToken": []]]
        case .ownPage: []
        case .cookie: [["cookie": []]]
        }
    }

    private var limits: [String] {
        let names = endpoint.rateLimits + (endpoint.authentication.takesToken ? [.tokenGuessesPerAddress] : [])
        return names.compactMap { name in
            guard let limits = name.isOfCodes ? settings.codeLimits : settings.rateLimits else { return nil }
            let limit = limits[name]
            return "Limit: \(limit.count) \(name.counted) in \(limit.seconds) seconds."
        }
    }

    // MARK: Request

    /// The parameters of this service: without mails, there are no codes.
    private var taken: [Endpoint.Parameter] {
        settings.mail != nil ? endpoint.parameters : endpoint.parameters.filter { $0.name != Self.code }
    }

    private static let code = Endpoint.Parameter.code.name

    private func isRequired(_ parameter: Endpoint.Parameter) -> Bool {
        switch parameter.need {
        case nil: parameter.isRequired
        case .withoutCode: settings.mail == nil
        case .ofNewAccount: !settings.signsUpWithoutPassword
        }
    }

    /// Whether parameters that may come anywhere are shown in the body.
    ///
    /// Logs of proxies have the query. So a deletion sends its password in the body. A GET has none that browsers send.
    private var hasBody: Bool {
        switch endpoint.method {
        case .post: true
        case .delete: endpoint.parameters.contains(where: \.kind.isPassword)
        default: false
        }
    }

    private var parameters: [JSONValue] {
        let headers = endpoint.headers.map { header -> JSONValue in
            [
                "name": .string(header.name), "in": "header", "description": .string(header.summary),
                "schema": ["type": "string"], "example": .string(header.example),
            ]
        }
        return taken.compactMap(parameter) + headers
            + (endpoint.authentication.isForOwnPages ? [ownPageHeader] : [])
    }

    /// A header that browsers send, and that other clients must send, too.
    private var ownPageHeader: JSONValue {
        [
            "name": "Sec-Fetch-Site", "in": "header", "required": .boolean(endpoint.method != .get),
            "description": """
            Where the request comes from. Browsers send it by themselves, with `Origin`. Requests from any page but the \
            gallery's own are refused.
            """,
            "schema": ["type": "string", "enum": ["same-origin"]], "example": "same-origin",
        ]
    }

    private func parameter(_ parameter: Endpoint.Parameter) -> JSONValue? {
        let location: String
        switch parameter.location {
        case .path: location = "path"
        case .query: location = "query"
        case .anywhere where !hasBody: location = "query"
        case .anywhere, .multipart, .fileName: return nil
        }
        return [
            "name": .string(parameter.name), "in": .string(location),
            "required": .boolean(isRequired(parameter)),
            "description": .string(parameter.summary),
            "schema": parameter.schema(settings),
            "example": parameter.exampleValue,
        ]
    }

    private var requestBody: JSONValue? {
        if let body = endpoint.body {
            return [
                "required": true, "description": .string(body.summary),
                "content": [JSONBody.mediaType: ["schema": body.schema, "example": body.example]],
            ]
        }
        guard hasBody else { return nil }
        let shown = taken.filter { [.anywhere, .multipart].contains($0.location) }
        guard !shown.isEmpty else { return nil }
        let hasFile = shown.contains { $0.location == .multipart }
        let types = hasFile ? [] : [Self.json, "application/x-www-form-urlencoded"]
        return [
            "required": .boolean(shown.contains { isRequired($0) || $0.need == .withoutCode }),
            "content": .object(
                OrderedDictionary(
                    uniqueKeysWithValues: (types + [Self.multipart]).map { type in
                        (type, ["schema": bodySchema(shown, of: type), "example": example(shown, in: type)])
                    }
                )
            ),
        ]
    }

    private func example(_ parameters: [Endpoint.Parameter], in mediaType: String) -> JSONValue {
        let members = parameters.map { parameter in
            (parameter.name, mediaType == Self.json ? parameter.exampleInJSON : parameter.exampleValue)
        }
        return .object(OrderedDictionary(uniqueKeysWithValues: members))
    }

    private func bodySchema(_ parameters: [Endpoint.Parameter], of mediaType: String) -> JSONValue {
        let properties = parameters.map { parameter in
            let schema =
                mediaType == Self.json ? parameter.schemaInJSON(settings) : parameter.schema(settings)
            return (parameter.name, schema.with(["description": .string(parameter.summary)]))
        }
        var schema: JSONValue = [
            "type": "object",
            "required": JSONValue(parameters.filter(isRequired).map(\.name)),
            "properties": .object(OrderedDictionary(uniqueKeysWithValues: properties)),
        ]
        if settings.mail != nil, let password = parameters.first(where: { $0.need == .withoutCode }) {
            schema = schema.with([
                "anyOf": [["required": [.string(password.name)]], ["required": [.string(Self.code)]]]
            ])
        }
        return mediaType == Self.multipart ? schema.with(["propertyNames": ["not": Pattern.noPartName]]) : schema
    }

    private static let json = JSONBody.mediaType
    private static let multipart = "multipart/form-data"

    // MARK: Answers

    private var responses: OrderedDictionary<String, JSONValue> {
        var responses = OrderedDictionary<String, JSONValue>()
        let refusals = OrderedDictionary(grouping: endpoint.allRefusals, by: \.status.code)
        for answer in endpoint.answers {
            responses["\(answer.status.code)"] =
                AnswerDescription(
                    answer: answer,
                    refusals: refusals[answer.status.code] ?? [],
                    form: endpoint.refusalForm
                ).value
        }
        for (status, refusals) in refusals where responses["\(status)"] == nil {
            responses["\(status)"] =
                AnswerDescription(
                    answer: nil,
                    refusals: refusals,
                    form: endpoint.refusalForm
                ).value
        }
        responses.sort { $0.key < $1.key }
        return responses
    }
}

extension RateLimitName {
    /// The counted actions.
    fileprivate var counted: String {
        switch self {
        case .signInPerAccount: "wrong passwords for an account"
        case .signInPerAddress: "wrong passwords from an address"
        case .passwordTriesPerAccount: "passwords for an account, correct ones too,"
        case .signUpPerAddress: "sign-ups from an address"
        case .codesPerAccount: "codes that are sent to an address"
        case .codesPerAddress: "codes that are asked for from an address"
        case .codeTriesPerAccount: "wrong codes for an account"
        case .noticesPerAddress: "notices to an address"
        case .changeMailsPerUser: "mails of a user's subscriptions"
        case .getTokenPerAddress: "calls from an address"
        case .tokenGuessesPerAddress: "unknown tokens from an address"
        case .uploadsPerUser: "uploads of a user"
        case .recordWritesPerUser: "records that a user writes"
        case .inboxSendsPerUser: "records that a user sends, and readers whom a user adds,"
        case .exportsPerUser: "exports of a user"
        }
    }
}
