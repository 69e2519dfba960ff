import HTTPTypes
package import JSON
import OrderedCollections
package import SelfieConfiguration

/// The API's description for programs: OpenAPI 3.1, made from the endpoints' own descriptions.
///
/// Source: OpenAPI Initiative, "OpenAPI Specification v3.1.1".
package struct OpenAPIDocument: Sendable {
    /// The whole document.
    package let value: JSONValue

    /// - Parameters:
    ///   - endpoints: All that are to be described.
    ///   - settings: Those of the installation.
    package init(of endpoints: [Endpoint], settings: ServiceConfiguration) {
        var paths: JSONValue = [:]
        for endpoint in endpoints {
            let method = endpoint.method.rawValue.lowercased()
            let operation = Operation(endpoint: endpoint, settings: settings).value
            paths = paths.with([endpoint.pathTemplate: (paths[endpoint.pathTemplate] ?? [:]).with([method: operation])])
        }
        value = [
            "openapi": "3.1.0",
            "info": [
                "title": "Selfie",
                "version": .string(SelfieVersion.current),
                "summary": "A private photo back end for selfie apps.",
                "description": .string(Self.introduction(settings)),
                "license": ["name": "MIT", "identifier": "MIT"],
            ],
            "servers": [["url": "/"]],
            "tags": .array(
                Endpoint.Topic.allCases.filter { topic in endpoints.contains { $0.topic == topic } }.map { topic in
                    ["name": .string(topic.rawValue), "description": .string(topic.summary)]
                }
            ),
            "paths": paths,
            "components": [
                "securitySchemes": [
                    "cookie": [
                        "type": "apiKey", "in": "cookie", "name": "selfie",
                        "description": """
                        The gallery's session. Over HTTPS, its name is `__Host-selfie`. Calls from any page but the gallery's \
                        own are refused.
                        """,
                    ],
                    "apiCredential": [
                        "type": "http", "scheme": "basic",
                        "description":
                            "The credential inside the app: `API_AUTH_NAME` and `API_AUTH_PASSWORD`.",
                    ],
                    "token": [
                        "type": "http", "scheme": "bearer",
                        "description": """
                        A user's token, as `Authorization: Bearer <api_authtoken>` or \
                        `Authorization: Token token=<api_authtoken>`.
                        """,
                    ],
                    "sessionToken": [
                        "type": "apiKey", "in": "header", "name": .string(DreamFactoryMiddleware.header),
                        "description": "A user's token, for the calls of DreamFactory: the `session_id` of a session.",
                    ],
                ]
            ],
        ]
    }

    private static let originalPaths = AllowedMethods.original.sorted().map { "`\($0)`" }.joined(separator: ", ")

    private static func introduction(_ settings: ServiceConfiguration) -> String {
        """
        People sign up, sign in, and upload, list, open and delete photos.

        **Parameters** come in the query, as JSON, as a form or as multipart, with any method. This document shows one \
        place for each call: the query for GET and DELETE, a body for POST and for a DELETE with a password. The query \
        takes precedence over the body. If a parameter appears twice, the last one is used. Unknown parameters are ignored. \
        A body of parameters has at most \(RequestParameters.maxBodyBytes) bytes and \(JSONParameters.maxMemberCount) members. \
        A photo has at most \(settings.maxUploadBytes) bytes. If a call's body is shown only as JSON, the call takes only JSON, and \
        refuses unknown members.

        **Passwords** are sent encrypted: base64 of AES-256-CBC with PKCS#7 padding. The key is the SHA-256 digest of \
        `API_AUTH_PASSWORD`, and the initialization vector is 16 zero bytes.

        **Errors** are `{"status":<number>,"message":"<text>","code":"<word>"}`. Programs should use the code, which never \
        changes. If several parameters are invalid, the message lists all errors, and the code is that of the first. With \
        `\(ServiceError.parametersMissing.code)`, `parameters` lists the missing ones.

        **Unknown paths** get 404 with the code `\(ServiceError.wrongURL.code)`. A wrong method gets 405 with the code \
        `\(ServiceError.methodNotAllowed.code)` and `Allow`, but 404 on railsauth's paths: \(originalPaths). HEAD works wherever \
        GET does. A path may end in `.json` or a slash.
        """
    }
}

extension JSONValue {
    /// The member of an object; nil when there is none.
    fileprivate subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }
}

extension Endpoint {
    /// The path as OpenAPI has it, such as `/api/sessions/{id}`.
    var pathTemplate: String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }.joined(separator: "/")
    }
}
