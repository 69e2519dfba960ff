import HTTPTypes
import Testing

@testable import SelfieWeb

@Suite("Parameters of a request")
struct RequestParametersTests {
    private static func parameter(_ kind: Endpoint.Parameter.Kind, isRequired: Bool = false) -> Endpoint.Parameter {
        Endpoint.Parameter(
            name: "nickname",
            location: .anywhere,
            isRequired: isRequired,
            kind: kind,
            summary: "",
            example: "",
            validationErrors: []
        )
    }

    private static let names = ParameterNames(all: ["nickname"], required: ["nickname"])

    private static func read(_ value: String?, _ parameter: Endpoint.Parameter) throws(ServiceError) -> String? {
        try RequestParameters(query: [:], body: value.map { ["nickname": $0] } ?? [:], names: Self.names)
            .text(parameter)
    }

    @Test("A text loses the spaces around it, and may be missing only where it is not required")
    func text() throws {
        #expect(try Self.read(" Ada\n", Self.parameter(.text(maxCharacters: 3))) == "Ada")
        #expect(try Self.read("", Self.parameter(.text(maxCharacters: 3), isRequired: true))?.isEmpty == true)
        #expect(try Self.read(nil, Self.parameter(.text(maxCharacters: 3))) == nil)
        #expect(throws: ServiceError.parametersMissing(["nickname"])) {
            try Self.read(nil, Self.parameter(.text(maxCharacters: 3), isRequired: true))
        }
    }

    @Test("A text that is too long or holds NUL is refused, and a line with any control character")
    func refusals() throws {
        let invalid = "nickname - is invalid,"
        let tooLong = "nickname - is too long (maximum is 3 characters),"
        let cases: [(String, Endpoint.Parameter.Kind, String?)] = [
            ("éèê", .text(maxCharacters: 3), nil), ("éèêë", .text(maxCharacters: 3), tooLong),
            ("a\nb", .text(maxCharacters: 3), nil), ("a\0b", .text(maxCharacters: 3), invalid),
            ("abc", .line(maxCharacters: 3), nil), ("abcd", .line(maxCharacters: 3), tooLong),
            ("a\nb", .line(maxCharacters: 3), invalid), ("a\u{7F}b", .line(maxCharacters: 3), invalid),
            ("a\nbcd", .line(maxCharacters: 3), invalid),
            (String(repeating: "a", count: 10_000), .text(maxCharacters: nil), nil),
            ("a\0b", .text(maxCharacters: nil), invalid),
        ]
        for (value, kind, message) in cases {
            guard let message else {
                #expect(try Self.read(value, Self.parameter(kind)) == value)
                continue
            }
            let refusal = #expect(throws: ServiceError.self) { try Self.read(value, Self.parameter(kind)) }
            #expect(refusal?.status == .badRequest)
            #expect(refusal?.message == message, "\(kind)")
        }
    }

    @Test("The query wins")
    func query() throws {
        let nickname = Self.parameter(.text(maxCharacters: 10))
        let parameters = RequestParameters(
            query: ["nickname": "query"],
            body: ["nickname": "body"],
            names: Self.names
        )
        #expect(try parameters.text(nickname) == "query")
    }
}
