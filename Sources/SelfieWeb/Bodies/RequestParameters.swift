import Encodings
import HTTPTypes
import Hummingbird
import JSON
import Multipart
import NIOCore
import SelfieAccounts
import SelfieCore

/// The parameters of a request's query and body.
///
/// The query wins.
struct RequestParameters {
    /// The most bytes of a body with parameters.
    ///
    /// All parameters of a call take less than 4,000.
    static let maxBodyBytes = 16 * 1024

    private let body: [String: String]
    private let query: [String: String]
    /// The arrays and objects of a JSON body.
    private let structures: [String: JSONValue]
    /// The parameters that the endpoint's description has.
    private var names: ParameterNames
    /// A hint about the body, for a client whose parameters are missing.
    private let hint: String?

    init(
        query: [String: String],
        body: [String: String],
        structures: [String: JSONValue] = [:],
        names: ParameterNames,
        hint: String? = nil
    ) {
        self.query = query
        self.body = body
        self.structures = structures
        self.names = names
        self.hint = hint
    }

    /// The value of a parameter, as it was sent; nil when it is missing.
    private subscript(parameter: Endpoint.Parameter) -> String? {
        assert(names.all.contains(parameter.name), "the endpoint's description lacks \(parameter.name)")
        return query[parameter.name] ?? body[parameter.name]
    }

    /// The value of a parameter, before anything compares it; nil when it is missing.
    ///
    /// Only passwords may have many combining marks in a row: their bytes alone count.
    ///
    /// - Throws: `ServiceError` with status 400.
    private func value(_ parameter: Endpoint.Parameter) throws(ServiceError) -> String? {
        let value = self[parameter]
        if !parameter.kind.isPassword, value?.hasLongMarkRun == true {
            throw parameter.invalid
        }
        return value
    }

    /// The value of a required parameter, which may be empty.
    func require(_ parameter: Endpoint.Parameter) throws(ServiceError) -> String {
        assert(names.required.contains(parameter.name), "nothing says that \(parameter.name) must be there")
        guard let value = try value(parameter) else { throw missing() }
        return value
    }

    /// The refusal of a request that lacks parameters, which names all that are missing, and some more.
    func missing(_ more: [String] = []) -> ServiceError {
        .parametersMissing(names.required.filter { query[$0] == nil && body[$0] == nil } + more, hint: hint)
    }

    /// The same parameters, of which these are needed, too.
    func requiring(_ parameters: [Endpoint.Parameter]) -> RequestParameters {
        var required = self
        required.names.required += parameters.map(\.name)
        return required
    }

    /// The value of a parameter that need not be there, and has rules in the domain.
    ///
    /// It may be empty, and is nil when it is missing. An array or an object is refused.
    func optional(_ parameter: Endpoint.Parameter) throws(ServiceError) -> String? {
        if let value = try value(parameter) { return value }
        try requireNoStructure(parameter)
        return nil
    }

    /// The value of a text that keeps to its description, and has no NUL.
    ///
    /// It has no spaces around it, and is nil when it is missing and need not be there. Texts with rules in the domain are
    /// read without this, so that one refusal names all broken rules.
    func text(_ parameter: Endpoint.Parameter) throws(ServiceError) -> String? {
        guard let text = try value(parameter)?.trimmingWhitespace() else {
            if parameter.isRequired { throw missing() }
            return try optional(parameter)
        }
        let maxCharacters: Int?
        switch parameter.kind {
        case .line(let max):
            if text.unicodeScalars.contains(where: \.isControl) { throw parameter.invalid }
            maxCharacters = max
        case .text(let max): maxCharacters = max
        case .lines(let max): maxCharacters = max
        default: maxCharacters = nil
        }
        if text.unicodeScalars.contains("\0") { throw parameter.invalid }
        if let maxCharacters, text.unicodeScalars.count > maxCharacters {
            throw ServiceError(.tooLong(maxCharacters: maxCharacters), of: parameter.name)
        }
        return text
    }

    /// The value of a parameter that is JSON: a value of a JSON body, or the text of one.
    ///
    /// It is `null` for a text that is no JSON, and nil when it is missing.
    func json(_ parameter: Endpoint.Parameter) -> JSONValue? {
        if query[parameter.name] == nil, let structure = structures[parameter.name] { return structure }
        return self[parameter].map { text in (try? JSONValue.parse(text.utf8)) ?? .null }
    }

    /// The value of a number within its range; nil when it is missing and need not be there.
    func integer(_ parameter: Endpoint.Parameter) throws(ServiceError) -> Int? {
        guard let text = try text(parameter) else { return nil }
        guard case .integer(let range) = parameter.kind, let value = Int(text), range.contains(value) else {
            throw parameter.invalid
        }
        return value
    }

    /// The value of a yes-or-no parameter, which may have a meaning when it is missing or blank.
    func flag(_ parameter: Endpoint.Parameter, otherwise missing: Bool = false) throws(ServiceError) -> Bool {
        guard let text = try value(parameter)?.trimmingWhitespace(), !text.isEmpty else {
            try requireNoStructure(parameter)
            return missing
        }
        guard let value = Bool(settingText: text) else {
            throw parameter.invalid
        }
        return value
    }

    /// Requires that a parameter is missing, and not an array or an object, which only JSON may be.
    ///
    /// To Rails, an empty array is missing.
    private func requireNoStructure(_ parameter: Endpoint.Parameter) throws(ServiceError) {
        if let structure = structures[parameter.name], structure != [] {
            throw parameter.invalid
        }
    }

    /// Reads the whole request.
    ///
    /// - Parameters:
    ///   - request: The request. Its body is consumed.
    ///   - context: Its connection, which asks a waiting client for the body.
    /// - Returns: The parameters.
    /// - Throws: `ServiceError` for malformed or too large input, `MultipartError`, or what the connection throws.
    static func read(from request: Request, context: some ConnectionContext) async throws -> RequestParameters {
        let query = try FormParameters.parse(Array((request.uri.query ?? "").utf8))
        let body: [String: String]
        var structures: [String: JSONValue] = [:]
        var hint: String?
        switch MediaType(request.head) {
        case .json: (body, structures) = try JSONParameters.parse(try await collect(request, context))
        case .form:
            let bytes = try await collect(request, context).readableBytesView
            // URLSession sends JSON as a form if the app sets no type.
            if bytes.first == UInt8(ascii: "{") { hint = jsonAsForm }
            do { body = try FormParameters.parse(bytes) } catch { throw error.with(hint: hint) }
        case .multipart: body = try await readMultipart(request, context: context)
        case .other: body = [:]
        }
        return RequestParameters(
            query: query,
            body: body,
            structures: structures,
            names: context.parameterNames,
            hint: hint
        )
    }

    /// Reads only the query.
    ///
    /// The body is left alone.
    static func readQuery(of request: Request, context: some ConnectionContext) throws(ServiceError)
        -> RequestParameters
    {
        let query = try FormParameters.parse(Array((request.uri.query ?? "").utf8))
        return RequestParameters(query: query, body: [:], names: context.parameterNames)
    }

    private static let jsonAsForm = "The body is JSON, but its Content-Type is that of a form: send application/json"

    private static func collect(_ request: Request, _ context: some ConnectionContext) async throws -> ByteBuffer {
        try await request.collectedBody(maxBytes: maxBodyBytes, context: context)
    }

    private static func readMultipart(
        _ request: Request,
        context: some ConnectionContext
    ) async throws -> [String: String] {
        let parts = MultipartSequence(
            body: try request.wantedBody(maxBytes: maxBodyBytes, context: context),
            maxBytes: maxBodyBytes,
            tooLarge: .bodyTooLarge(maxBytes: maxBodyBytes),
            boundary: try MultipartBoundary(contentType: request.headers[.contentType] ?? ""),
            limits: MultipartLimits(maxFileBytes: maxBodyBytes)
        )
        var form = MultipartForm()
        for try await event in parts { try form.append(event) }
        return form.fields
    }
}
