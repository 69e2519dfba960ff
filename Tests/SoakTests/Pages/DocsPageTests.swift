import Postgres
import ServiceTestSupport
import Testing

@Suite("The page about the API in Chromium", .timeLimit(.minutes(5)))
struct DocsPageTests {
    private static let account = ["email": "grace@example.com", "password": "a good password"]

    /// Each collection makes the page longer, and each look at a long page takes a browser seconds.
    private static let schema = """
        {"roles": {"team": {}}, "collections": {
            "bugs": {"access": "shared", "role": "team", "fields": {
                "title": {"type": "string", "required": true, "max": 200}}},
            "houses": {"access": "private", "indexes": ["address"], "fields": {
                "address": {"type": "string", "required": true}, "comment": {"type": "string", "max": 1000},
                "photo": {"type": "photo"}}}
        }}
        """

    @Test("By keyboard: learn the API, try its calls, and run what the page shows")
    func docs() async throws {
        // With limits, as installations have them, which are in the descriptions.
        let settings = ["LOG_LEVEL": "trace", "RATE_LIMITS": "on"]
        try await TestService.runWithSchema(Self.schema, settings: settings) { service in
            let credential = ["name": TestService.apiName, "api_password": TestService.apiPassword]
            try await BrowserScript.run("docs_page.py", in: service, Self.account.merging(credential) { $1 })
            #expect(try await service.count("SELECT count(*) FROM photos") == 2)
        }
    }
}
