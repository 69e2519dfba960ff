import ConnectionTestSupport
import Foundation
import JSON
import OrderedCollections
import ProcessTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieWeb

@Suite("The API's description")
struct OpenAPIDocumentTests {
    /// What each call takes, written down once more: `header`, `path`, `query` and `body` say where.
    private static let parameters: [String: Set<String>] = [
        "GET /": ["header If-None-Match"],
        "GET /livez": [],
        "GET /readyz": [],
        "GET /openapi.json": ["header If-None-Match"],
        "GET /docs": ["header If-None-Match"],
        "GET /favicon.ico": ["header If-None-Match"],
        "GET /robots.txt": ["header If-None-Match"],
        "GET /files/{name}": ["header If-None-Match", "path name"],
        "GET /photos/{random_id}": [
            "header If-None-Match", "header If-Match", "header If-Modified-Since", "header If-Unmodified-Since",
            "header Range", "header If-Range", "path random_id", "query expires", "query series", "query for",
            "query size",
            "query signature",
        ],
        "POST /api/signup": [
            "body full_name", "body first_name", "body last_name", "body email", "body password", "body title",
            "body fields",
        ],
        "POST /api/signin": ["body email", "body password", "body code", "body device", "body remember"],
        "GET /api/get_token": ["query email", "query password", "query code", "query device", "query remember"],
        "POST /api/request_code": ["body email", "body purpose"],
        "POST /api/recover_password": ["body email", "body code", "body new_password", "body device"],
        "POST /api/change_email": ["body email", "body password", "body code"],
        "POST /api/confirm_email": ["body code"],
        "POST /api/set_password": ["body new_password", "body code"],
        "POST /api/reset_password": ["body old_password", "body new_password", "body device"],
        "GET /api/clear_token": ["query all"],
        "POST /api/clear_token": ["body all"],
        "DELETE /api/clear_token": ["query all"],
        "POST /api/upload_photo": ["header Idempotency-Key", "body title", "body image", "body listed"],
        "GET /api/get_photos": ["header If-None-Match", "query limit", "query after", "query order"],
        "DELETE /api/delete_photo": ["query photo_id"],
        "POST /rest/user/register": [
            "query login", "query app_name", "body email", "body first_name", "body last_name", "body display_name",
            "body new_password",
        ],
        "POST /rest/user/session": ["query app_name", "body email", "body password", "body code"],
        "GET /rest/user/session": [],
        "DELETE /rest/user/session": [],
        "GET /rest/db/{table}": [
            "path table", "query ids", "query filter", "query order", "query limit", "query offset",
            "query include_count",
            "query fields", "query related", "query format", "query id_field", "query continue",
        ],
        "POST /rest/db/{table}": [
            "path table", "query fields", "query format", "query id_field", "query continue",
        ],
        "PUT /rest/db/{table}": [
            "path table", "query ids", "query filter", "query fields", "query format", "query id_field",
            "query continue",
        ],
        "PATCH /rest/db/{table}": [
            "path table", "query ids", "query filter", "query fields", "query format", "query id_field",
            "query continue",
        ],
        "DELETE /rest/db/{table}": [
            "path table", "query ids", "query filter", "query fields", "query format", "query id_field",
            "query continue",
        ],
        "GET /rest/db/{table}/{id}": [
            "path table", "path id", "query fields", "query related", "query format", "query id_field",
            "query continue",
        ],
        "POST /rest/db/{table}/{id}": [
            "path table", "path id", "query fields", "query format", "query id_field", "query continue",
        ],
        "PUT /rest/db/{table}/{id}": [
            "path table", "path id", "query fields", "query format", "query id_field", "query continue",
        ],
        "PATCH /rest/db/{table}/{id}": [
            "path table", "path id", "query fields", "query format", "query id_field", "query continue",
        ],
        "DELETE /rest/db/{table}/{id}": [
            "path table", "path id", "query fields", "query format", "query id_field", "query continue",
        ],
        "GET /api/sessions": [],
        "GET /api/export": [],
        "DELETE /api/sessions/{id}": ["path id"],
        "DELETE /api/account": ["body password", "body code"],
        "GET /api/me": [],
        "PATCH /api/me": [
            "body first_name", "body last_name", "body title", "body picture", "body shows_email", "body fields",
        ],
        "GET /api/members": ["query query", "query after", "query limit"],
        "GET /api/members/{member}": ["path member"],
        "GET /api/blocks": [],
        "PUT /api/blocks/{member}": ["path member"],
        "DELETE /api/blocks/{member}": ["path member"],
        "GET /api/records/{collection}": [
            "path collection", "query where", "query ids", "query order", "query after", "query limit",
            "query include", "query count",
        ],
        "POST /api/records/{collection}": ["path collection"],
        "PATCH /api/records/{collection}": ["path collection"],
        "DELETE /api/records/{collection}": ["path collection", "query ids"],
        "GET /api/records/{collection}/{id}": ["path collection", "path id", "query include", "header If-None-Match"],
        "PUT /api/records/{collection}/{id}": [
            "path collection", "path id", "header If-Match", "header If-None-Match", "body data",
            "body readers", "body writers", "body expires_at",
        ],
        "PATCH /api/records/{collection}/{id}": [
            "path collection", "path id", "header If-Match", "body data", "body readers", "body writers",
            "body expires_at",
        ],
        "DELETE /api/records/{collection}/{id}": ["path collection", "path id", "header If-Match"],
        "GET /api/members/{member}/records/{collection}": [
            "path member", "path collection", "query where", "query ids", "query order", "query after", "query limit",
            "query include", "query count",
        ],
        "POST /api/members/{member}/records/{collection}": ["path member", "path collection"],
        "PATCH /api/members/{member}/records/{collection}": ["path member", "path collection"],
        "DELETE /api/members/{member}/records/{collection}": ["path member", "path collection", "query ids"],
        "GET /api/members/{member}/records/{collection}/{id}": [
            "path member", "path collection", "path id", "query include", "header If-None-Match",
        ],
        "PUT /api/members/{member}/records/{collection}/{id}": [
            "path member", "path collection", "path id", "header If-Match", "header If-None-Match", "body data",
            "body readers", "body writers", "body expires_at",
        ],
        "PATCH /api/members/{member}/records/{collection}/{id}": [
            "path member", "path collection", "path id", "header If-Match", "body data", "body readers",
            "body writers", "body expires_at",
        ],
        "DELETE /api/members/{member}/records/{collection}/{id}": [
            "path member", "path collection", "path id", "header If-Match",
        ],
        "GET /api/changes": [
            "query since", "query collections", "query limit", "query wait", "header Last-Event-ID", "header Accept",
        ],
        "GET /api/devices": [],
        "PUT /api/devices/{device}": ["path device", "body platform", "body environment", "body topic", "body badge"],
        "DELETE /api/devices/{device}": ["path device"],
        "GET /api/subscriptions": [],
        "GET /api/subscriptions/{subscription}": ["path subscription"],
        "PUT /api/subscriptions/{subscription}": [
            "path subscription", "body collection", "body where", "body on", "body once", "body channel", "body alert",
            "body sound", "body badge", "body silent", "body collapse",
        ],
        "DELETE /api/subscriptions/{subscription}": ["path subscription"],
        "GET /api/roles/{role}/members": ["path role", "query after", "query limit"],
        "GET /api/roles/{role}/members/{member}": ["path role", "path member"],
        "PUT /api/roles/{role}/members/{member}": ["path role", "path member"],
        "DELETE /api/roles/{role}/members/{member}": ["path role", "path member"],
        "POST /gallery/signup": ["body full_name", "body email", "body password", "header Sec-Fetch-Site"],
        "POST /gallery/signin": [
            "body email", "body password", "body code", "body device", "header Sec-Fetch-Site",
        ],
        "POST /gallery/code": ["body email", "body purpose", "header Sec-Fetch-Site"],
        "POST /gallery/recover": [
            "body email", "body code", "body new_password", "body device", "header Sec-Fetch-Site",
        ],
        "POST /gallery/email": ["body email", "body password", "body code", "header Sec-Fetch-Site"],
        "POST /gallery/email/confirm": ["body code", "header Sec-Fetch-Site"],
        "POST /gallery/password/first": ["body new_password", "body code", "header Sec-Fetch-Site"],
        "POST /gallery/signout": ["body all", "header Sec-Fetch-Site"],
        "GET /gallery/account": ["header Sec-Fetch-Site"],
        "DELETE /gallery/account": ["body password", "body code", "header Sec-Fetch-Site"],
        "POST /gallery/password": ["body old_password", "body new_password", "body device", "header Sec-Fetch-Site"],
        "GET /gallery/changes": [
            "query since", "query collections", "query limit", "query wait", "header Last-Event-ID", "header Accept",
            "header Sec-Fetch-Site",
        ],
        "GET /gallery/photos": [
            "header If-None-Match", "query limit", "query after", "query order", "header Sec-Fetch-Site",
        ],
        "POST /gallery/photos": [
            "header Idempotency-Key", "body title", "body image", "body listed", "header Sec-Fetch-Site",
        ],
        "DELETE /gallery/photos": ["query photo_id", "header Sec-Fetch-Site"],
        "GET /gallery/sessions": ["header Sec-Fetch-Site"],
        "GET /gallery/export": ["header Sec-Fetch-Site"],
        "DELETE /gallery/sessions/{id}": ["path id", "header Sec-Fetch-Site"],
    ]

    /// The calls of a document, by method and path.
    private static func operations(_ document: JSONValue) throws -> [String: JSONValue] {
        var operations: [String: JSONValue] = [:]
        for (path, item) in try #require(document["paths"]?.members) {
            for (method, operation) in try #require(item.members) {
                operations["\(method.uppercased()) \(path)"] = operation
            }
        }
        return operations
    }

    private static func text(_ value: JSONValue?) -> String {
        if case .string(let text)? = value { text } else { "" }
    }

    private static func elements(_ value: JSONValue?) -> [JSONValue] {
        if case .array(let elements)? = value { elements } else { [] }
    }

    @Test("It has every call with all that it takes")
    func calls() throws {
        let operations = try Self.operations(APIDescription.document)
        #expect(Set(operations.keys) == Set(Self.parameters.keys))
        for (call, operation) in operations {
            var taken = Self.elements(operation["parameters"]).map { parameter in
                "\(Self.text(parameter["in"])) \(Self.text(parameter["name"]))"
            }
            let contents = operation["requestBody"]?["content"]?.members ?? [:]
            for (_, content) in contents {
                taken += (content["schema"]?["properties"]?.members?.keys ?? []).map { "body \($0)" }
            }
            #expect(Set(taken) == Self.parameters[call], "\(call)")
        }
    }

    @Test("Each call has a name of its own, an answer, words and examples")
    func words() throws {
        let operations = try Self.operations(APIDescription.document)
        #expect(Set(operations.values.map { Self.text($0["operationId"]) }).count == operations.count)
        for (call, operation) in operations {
            #expect(!Self.text(operation["summary"]).isEmpty, "\(call)")
            for parameter in Self.elements(operation["parameters"]) {
                #expect(!Self.text(parameter["description"]).isEmpty && parameter["example"] != nil, "\(call)")
            }
            for (_, content) in operation["requestBody"]?["content"]?.members ?? [:] {
                #expect(content["example"] != nil, "\(call)")
            }
            let responses = try #require(operation["responses"]?.members)
            #expect(responses["200"] != nil, "\(call)")
            for (status, response) in responses {
                #expect(!Self.text(response["description"]).isEmpty, "\(call) \(status)")
                let json = response["content"]?["application/json"]
                #expect(json == nil || json?["examples"]?.members?.isEmpty == false, "\(call) \(status)")
            }
        }
    }

    @Test("Each example of an answer fits its own schema")
    func examples() throws {
        var count = 0
        for (call, operation) in try Self.operations(APIDescription.document) {
            for (status, response) in try #require(operation["responses"]?.members) {
                guard let json = response["content"]?["application/json"], let schema = json["schema"] else { continue }
                for (name, example) in json["examples"]?.members ?? [:] {
                    let value = try #require(example["value"])
                    #expect(JSONSchema.problem(with: value, schema) == nil, "\(call) \(status) \(name)")
                    count += 1
                }
            }
        }
        #expect(count > 200)
    }

    @Test("It has the limits on records of a call and on members of a record")
    func recordLimits() throws {
        let paths = try #require(APIDescription.document["paths"])
        let schema = { (operation: JSONValue?) -> JSONValue? in
            operation?["requestBody"]?["content"]?["application/json"]?["schema"]
        }
        for path in ["/api/records/{collection}", "/api/members/{member}/records/{collection}"] {
            let created = Self.elements(schema(paths[path]?["post"])?["anyOf"])
            #expect(created.compactMap { $0["maxItems"] } == [100], "\(path)")
            #expect(schema(paths[path]?["patch"])?["maxItems"] == 100, "\(path)")
            for method in ["put", "patch"] {
                let members = schema(paths["\(path)/{id}"]?[method])?["properties"]
                #expect(members?["readers"]?["maxItems"] == 100, "\(method) \(path)")
                #expect(members?["writers"]?["maxItems"] == 100, "\(method) \(path)")
            }
        }
    }

    @Test("It names the paths where another method is 404, and says whose readers a new record gets")
    func introduction() throws {
        let introduction = Self.text(APIDescription.document["info"]?["description"])
        for path in [
            "/", "/api/signup", "/api/signin", "/api/get_token", "/api/upload_photo", "/api/get_photos",
            "/api/delete_photo", "/api/reset_password", "/api/clear_token",
        ] {
            #expect(introduction.contains("`\(path)`"), "\(path)")
        }
        let operations = try Self.operations(APIDescription.document)
        for call in ["POST /api/records/{collection}", "PUT /api/records/{collection}/{id}"] {
            let description = Self.text(operations[call]?["description"])
            #expect(description.contains("without readers gets the readers of its parent record"), "\(call)")
        }
    }

    @Test("It is served with the limits of the service, and unchanged it is not sent again")
    func served() async throws {
        let settings = ["UPLOAD_BYTES_MAX": "1234567", "RATE_LIMITS": "on", "RATE_LIMIT_SIGNUP_PER_ADDRESS": "7/11m"]
        try await TestService.run(settings: settings) { service in
            let answer = try await service.send("GET", "/openapi.json")
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
            let document = try JSONValue.parse(stored: answer.body)
            #expect(document["openapi"] == "3.1.0")
            let introduction = Self.text(document["info"]?["description"])
            #expect(introduction.contains("at most 1234567 bytes"))
            let signUp = Self.text(document["paths"]?["/api/signup"]?["post"]?["description"])
            #expect(signUp.contains("Limit: 7 sign-ups from an address in 660 seconds."))
            let tag = try #require(answer.headers["etag"])
            let again = try await service.send("GET", "/openapi.json", headers: [("If-None-Match", tag)])
            #expect(again.status == 304 && again.body.isEmpty && again.headers["etag"] == tag)
            #expect(again.headers["vary"] == answer.headers["vary"])
            // It has another version than none: the condition of a change says nothing of what is read.
            #expect(try await service.send("GET", "/openapi.json", headers: [("If-Match", "\"x\"")]).status == 200)
            let compressed = try await service.send("GET", "/openapi.json", headers: [("Accept-Encoding", "gzip")])
            #expect(compressed.headers["content-encoding"] == "gzip" && compressed.headers["etag"] == "W/\(tag)")
            #expect(compressed.body.count < answer.body.count / 4)
            #expect(compressed.headers["content-length"] == "\(compressed.body.count)")
        }
    }

    @Test("PUBLIC_DOCS=false closes it, and the page")
    func closed() async throws {
        try await TestService.run(settings: ["PUBLIC_DOCS": "false"]) { service in
            for path in ["/openapi.json", "/docs"] {
                let answer = try await service.send("GET", path)
                #expect(answer.status == 404 && answer.json["code"] as? String == "endpoint_not_found", "\(path)")
            }
        }
    }

    @Test("Another program finds it valid")
    func valid() async throws {
        try await TestService.run { service in
            let answer = try await service.send("GET", "/openapi.json")
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "openapi.json")
                try answer.body.write(to: path)
                let outcome = try await PythonScript.runModule("openapi_spec_validator", [path.path])
                #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            }
        }
    }

    @Test(
        "Another program tries the API by it, and all is as it says",
        .timeLimit(.minutes(5))
    )
    func tried() async throws {
        try await TestService.runWithSchema(settings: [:]) { service in
            // The soak tries all. To cover each keyword of the description, one by one, takes three times as long.
            let findings = try await Schemathesis(
                exampleCount: 1,
                skippedCollections: [
                    "threads", "messages", "houses", "components", "severities", "priorities", "statuses", "comments",
                    "news",
                ],
                skippedPaths: ["rest/"],
                phases: "examples,fuzzing"
            ).findings(in: service, as: .user)
            #expect(findings == nil, "\(findings ?? "")")
        }
    }
}
