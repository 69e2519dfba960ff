import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import Testing

@testable import SelfieWeb

@Suite("HTTP Basic")
struct BasicMiddlewareTests {
    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private static let right = base64("\(TestService.apiName):\(TestService.apiPassword)")
    private static let calls = Endpoint.calls(.basic)

    private static let accepted = [
        "Basic \(right)", "basic \(right)", "BASIC \(right)", "bAsIc \(right)", "Basic    \(right)", "Basic \(right)  ",
        "Basic \(right.replacing("=", with: ""))",
    ]

    private static let refused: [String?] =
        [
            nil, "", "Basic", "Basic ", "Basic =", "Basic ====", "Basic !!!!", right, "Basic\(right)",
            "Basic: \(right)",
            "Bearer \(right)", "Token \(right)", "Digest \(right)", "Basic \(right) \(right)", "Basic \(right)x",
            "Basic \(right.lowercased())", "Basic \(right), Basic \(right)", "Basic \"\(right)\"",
            "Basic \(Data([0xFF, 0x3A, 0xFE]).base64EncodedString())",
        ]
        + [
            "test-app:p4ssw0rD", "test-app:p4ssw0r", "test-app:p4ssw0rd ", "test-app:p4ssw0rd\n", "test-app:p4ssw0rd\0",
            "test-app:p4ssw0rdx", "test-app:", "test-app", ":p4ssw0rd", ":", "", "Test-app:p4ssw0rd",
            "p4ssw0rd:test-app", "test-app::p4ssw0rd", " test-app:p4ssw0rd", "test-ap:pp4ssw0rd",
            "test-app\0:p4ssw0rd",
        ].map { "Basic \(base64($0))" }

    @Test("It is taken in all its forms, and looked at before the parameters", .timeLimit(.minutes(2)))
    func forms() async throws {
        try await TestService.run { service in
            for call in Self.calls {
                for header in Self.accepted {
                    try await service.check(
                        Scenario(
                            "\(call) with \(header)",
                            call,
                            authorization: header,
                            status: 400,
                            message: Refusal.missing
                        )
                    )
                }
                for header in Self.refused {
                    let answer = try await service.check(
                        Scenario(
                            "\(call) with \(header ?? "nothing")",
                            call,
                            authorization: header,
                            status: 401,
                            message: Refusal.basic
                        )
                    )
                    #expect(answer.headers["www-authenticate"] == #"Basic realm="Application""#)
                }
            }
        }
    }

    @Test("Without it, a request that is otherwise good does nothing")
    func sideEffects() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let password = try TestService.encrypt("my password")
            let email = "ada@example.com"
            let requests: [(String, [(String, String)])] = [
                ("POST /api/signup", [("full_name", "B"), ("email", "bob@example.com"), ("password", password)]),
                ("POST /api/signin", [("email", email), ("password", password)]),
                ("GET /api/get_token", [("email", email), ("password", password)]),
            ]
            for (request, parameters) in requests {
                for header in [nil, tokenHeader(token), "Basic \(Self.base64("test-app:wrong"))"] {
                    try await service.check(
                        Scenario(
                            request,
                            request,
                            authorization: header,
                            .form(parameters),
                            status: 401,
                            message: Refusal.basic
                        )
                    )
                }
            }
        }
    }

    @Test(
        "Names and passwords of any letters; the first colon parts them",
        arguments: ["pa:ss::word:", ":", "pässwörd"]
    )
    func colons(password: String) async throws {
        let settings = ["API_AUTH_NAME": "grüße", "API_AUTH_PASSWORD": password]
        try await TestService.run(settings: settings) { service in
            try await service.check([
                Scenario(
                    "right",
                    "POST /api/signin",
                    authorization: "Basic \(Self.base64("grüße:\(password)"))",
                    status: 400,
                    message: Refusal.missing
                ),
                Scenario(
                    "cut at the last colon",
                    "POST /api/signin",
                    authorization: "Basic \(Self.base64("grüße:\(password.dropLast())"))",
                    status: 401,
                    message: Refusal.basic
                ),
            ])
        }
    }
}
