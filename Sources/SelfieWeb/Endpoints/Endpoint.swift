package import HTTPTypes

/// The description of one call of the API.
///
/// Router, checks and tests all use this value.
package struct Endpoint: Sendable {
    package let method: HTTPRequest.Method
    /// Such as `/api/sessions/:id`, where `:id` stands for any one segment.
    package let path: String
    package let authentication: Authentication
    /// Whether it may change something, so that it goes on when its client is gone.
    ///
    /// A GET should not, but railsauth has two that do.
    package let changesState: Bool
    package let parameters: [Parameter]
    package let answers: [Answer]
    /// This call's own refusals.
    ///
    /// ``allRefusals`` adds those that calls share.
    let refusals: [ServiceError]

    /// Who may call.
    package enum Authentication: Sendable, CaseIterable {
        /// Anybody.
        case `public`
        /// Clients with the API's credential, by HTTP Basic.
        case basic
        /// Users with a token. The handler gets the user's session.
        case token
        /// Users with a token. The handler's own statement checks it.
        case checksItsOwnToken
    }

    /// What a client may send with a call.
    package struct Parameter: Sendable {
        /// The name that clients send.
        package let name: String
        package let place: Place
        package let isRequired: Bool
        package let kind: Kind
        /// The refusals of a value that breaks a rule.
        package let complaints: [ServiceError]

        /// Where it is sent.
        package enum Place: Sendable {
            /// The query, or a body: JSON, a form or multipart. The query wins.
            case anywhere
            /// The path.
            case path
            /// Only the query.
            case query
            /// A part of a multipart body.
            case multipart
            /// The name that the file of such a part has.
            case fileName
        }

        /// The kind of its value.
        package enum Kind: Sendable, Equatable {
            /// A text of at most this many characters. With nil, only the body's limit counts.
            case text(maxCharacters: Int?)
            /// A text of one line, without control characters, of at most this many characters.
            case line(maxCharacters: Int)
            /// A password as AESCrypt encrypts it.
            case encryptedPassword
            /// The same for a new password, within these limits.
            case encryptedNewPassword(minCharacters: Int, maxBytes: Int)
            /// `true`, `yes`, `on` or `1`, or the opposite. Missing means no.
            case flag
            /// A whole number in a range.
            case integer(ClosedRange<Int>)
            /// One of these words.
            case word([String])
            /// An id from an answer.
            case id
            /// A part of a signed URL.
            case signature
            /// A photo's bytes, at most `UPLOAD_BYTES_MAX`.
            case photo
        }
    }

    /// The answer to a valid request.
    package struct Answer: Sendable {
        package let status: HTTPResponse.Status
        package let body: Body

        /// The contents of the answer's body.
        package enum Body: Sendable, Equatable {
            case none
            /// `status` and `message`.
            case message(String)
            /// A JSON object with these members, in this order.
            case object([Member])
            /// A JSON array of such objects.
            case array([Member])
            /// A photo's bytes.
            case photoBytes
            /// A page for people, or a line of text.
            case page
        }

        /// A member of a JSON object.
        package struct Member: Sendable, Equatable {
            package let name: String
            package let kind: Kind

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
                case flag
            }

            init(_ name: String, _ kind: Kind = .text) {
                self.name = name
                self.kind = kind
            }
        }

        static func ok(_ body: Body) -> Answer { Answer(status: .ok, body: body) }
        static let notModified = Answer(status: .notModified, body: .none)
    }

    /// All refusals that the call may answer with.
    package var allRefusals: [ServiceError] {
        refusals + sharedRefusals
    }

    private var sharedRefusals: [ServiceError] {
        // The connection itself answers with the last three, for any call.
        var shared: [ServiceError] = [.unavailable, .internalError, .malformedRequest, .headerTooLarge, .bodyTooSlow]
        shared += parameters.flatMap(\.complaints)
        switch authentication {
        case .public: break
        case .basic: shared += [.basicAccessDenied, .tooManyAtOnce]
        case .token, .checksItsOwnToken: shared += [.tokenAccessDenied, .tooManyRequests, .tooManyAtOnce]
        }
        if parameters.contains(where: { $0.place != .path }) { shared += [.malformedParameters, .tooManyParameters] }
        if parameters.contains(where: { [.anywhere, .multipart].contains($0.place) }) {
            shared += [.malformedMultipart, .bodyTooLarge, .bodyIncomplete]
            if !parameters.contains(where: { $0.place == .multipart }) { shared.append(.malformedJSON) }
            if parameters.contains(where: \.isRequired) { shared.append(.parametersMissing) }
        }
        return shared
    }
}
