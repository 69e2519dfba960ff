package import Encodings
import HTTPTypes
import OrderedCollections

/// The API's description for programs: OpenAPI 3.1, made from the endpoints' own descriptions.
///
/// Source: OpenAPI Initiative, "OpenAPI Specification v3.1.1".
package struct OpenAPIDocument: Sendable {
    /// The whole document.
    package let value: JSONValue

    /// - Parameters:
    ///   - endpoints: All that are to be described.
    ///   - settings: Those of the installation.
    package init(of endpoints: [Endpoint], settings: WebSettings) {
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
                "version": .string(settings.version),
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
                        The gallery's session. Over HTTPS, its name is `__Host-selfie`. A call that did not come from the \
                        gallery's own pages is refused.
                        """,
                    ],
                    "apiCredential": [
                        "type": "http", "scheme": "basic",
                        "description":
                            "The credential that ships inside the app: `API_AUTH_NAME` and `API_AUTH_PASSWORD`.",
                    ],
                    "token": [
                        "type": "http", "scheme": "bearer",
                        "description": """
                        A user's token, as `Authorization: Bearer <api_authtoken>` or \
                        `Authorization: Token token=<api_authtoken>`.
                        """,
                    ],
                ]
            ],
        ]
    }

    private static let originalPaths = AllowedMethods.original.sorted().map { "`\($0)`" }.joined(separator: ", ")

    private static func introduction(_ settings: WebSettings) -> String {
        """
        People sign up, sign in, upload photos, list, open and delete them.

        **Parameters** come in the query, as JSON, as a form or as multipart, with any method. This document shows one \
        way for each call: the query for GET and DELETE, a body for POST and for a DELETE with a password. The query wins \
        over the body. Of duplicates the last counts, and unknown ones are ignored. A body of parameters has at most \
        \(RequestParameters.maxBodyBytes) bytes and \(JSONParameters.maxMemberCount) members. A photo has at most \
        \(settings.maxUploadBytes) bytes. A call whose body is shown as JSON alone takes nothing else, and refuses members that it \
        does not know.

        **Passwords** travel encrypted: base64 of AES-256-CBC with PKCS#7 padding. The key is the SHA-256 digest of \
        `API_AUTH_PASSWORD`, and the initialization vector is 16 zero bytes.

        **Refusals** are `{"status":<number>,"message":"<text>","code":"<word>"}`. The code never changes, so programs \
        go by it. With several complaints about parameters, the message has them all, and the code is that of the first. With \
        `\(ServiceError.parametersMissing.code)`, `parameters` names what is missing.

        **Anything else** is answered with 404 and the code `\(ServiceError.wrongURL.code)`. Another method than a path takes \
        is answered with 405, the code `\(ServiceError.methodNotAllowed.code)` and `Allow`. On the paths that railsauth had, it \
        is answered with 404: \(originalPaths). HEAD answers wherever GET does. A path may end in `.json` or a slash.
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
