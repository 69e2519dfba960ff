package import HTTPTypes
package import JSON

extension Endpoint {
    /// The answer to a valid request.
    package struct Answer: Sendable {
        package let status: HTTPResponse.Status
        package let body: Body
        /// What it means, in a few words.
        let summary: String
        let headers: [Header]

        /// The contents of the answer's body.
        package enum Body: Sendable, Equatable {
            case none
            /// `status` and `message`.
            case message(String)
            /// A JSON object with these members, in this order.
            case object([Member])
            /// A JSON array of such objects.
            case array([Member])
            /// Any other JSON, with its JSON Schema and an example.
            case json(schema: JSONValue, example: JSONValue)
            /// The same, or server-sent events if the client asks for them.
            case jsonOrEvents(schema: JSONValue, example: JSONValue)
            /// A photo's bytes.
            case photoBytes
            /// A page for people, or this line of text.
            case page(text: String)
            /// A file of one of these media types.
            case file([String])
            /// The API's document.
            case document
        }

        /// A member of a JSON object.
        package struct Member: Sendable, Equatable {
            package let name: String
            package let kind: Kind
            /// What it means, in a few words.
            let summary: String
            let example: JSONValue
            /// Whether each such object has it.
            let isAlwaysThere: Bool

            /// The kind of its value.
            package enum Kind: Sendable {
                case text
                /// A text or `null`.
                case textOrNull
                case null
                /// A time in UTC, such as `2026-11-22T10:00:00.000Z`.
                case time
                /// A time, or `null`.
                case timeOrNull
                /// A whole number, or `null`.
                case numberOrNull
                /// An absolute URL.
                case url
                /// An absolute URL, or `null`.
                case urlOrNull
                /// Any JSON object.
                case object
                case flag
            }

            init(
                _ name: String,
                _ kind: Kind,
                _ summary: String,
                example: JSONValue,
                isAlwaysThere: Bool = true
            ) {
                self.name = name
                self.kind = kind
                self.summary = summary
                self.example = example
                self.isAlwaysThere = isAlwaysThere
            }
        }

        init(_ status: HTTPResponse.Status, _ summary: String, _ body: Body = .none, headers: [Header] = []) {
            self.status = status
            self.body = body
            self.summary = summary
            self.headers = headers
        }

        static func ok(_ summary: String, _ body: Body, headers: [Header] = []) -> Answer {
            Answer(.ok, summary, body, headers: headers)
        }

        /// An answer of `status` and `message`.
        static func message(_ text: String, headers: [Header] = []) -> Answer {
            ok(text, .message(text), headers: headers)
        }

        static let notModified = Answer(
            .notModified,
            "The client's copy is up to date.",
            headers: [.entityTag]
        )
    }
}
