package import HTTPTypes

/// What a client must know of one call of the API: all that is said of it anywhere comes from this value.
package struct Endpoint: Sendable {
    package let method: HTTPRequest.Method
    /// Such as `/api/sessions/:id`, in which `:id` stands for any one segment.
    package let path: String
    package let authentication: Authentication
    package let parameters: [Parameter]
    package let answers: [Answer]
    /// The refusals that are this call's own; ``allRefusals`` has those too that it shares with others.
    let refusals: [ServiceError]

    /// Who may call.
    package enum Authentication: Sendable, CaseIterable {
        /// Anybody.
        case `public`
        /// A client with the API's credential, by HTTP Basic.
        case basic
        /// A user, by a token; the handler gets the user's session.
        case token
        /// A user, by a token that the handler's own statement checks.
        case checksItsOwnToken
    }

    /// What a client may send with a call.
    package struct Parameter: Sendable {
        /// As clients call it.
        package let name: String
        package let place: Place
        package let isRequired: Bool
        package let kind: Kind

        /// Where it is sent.
        package enum Place: Sendable {
            /// The query, or a body of JSON, a form or multipart; the query wins.
            case anywhere
            /// The path.
            case path
            /// The query alone.
            case query
            /// A part of a multipart body.
            case multipart
        }

        /// What its value is.
        package enum Kind: Sendable, Equatable {
            /// A text of at most so many characters; nil for any that the body has room for.
            case text(maxCharacters: Int?)
            /// A password as AESCrypt encrypts it.
            case encryptedPassword
            /// `true`, `yes`, `on` or `1`, or the opposite; no when it is missing.
            case flag
            /// The id that an answer gave.
            case id
            /// What a signed URL holds.
            case signature
            /// A photo's bytes, at most `UPLOAD_BYTES_MAX`.
            case photo
        }
    }

    /// What is answered when nothing is wrong.
    package struct Answer: Sendable {
        package let status: HTTPResponse.Status
        package let body: Body

        /// What the answer's body holds.
        package enum Body: Sendable, Equatable {
            case none
            /// `status` and `message`.
            case message(String)
            /// The account, without a token.
            case account
            /// The account with a token.
            case accountWithToken
            /// A token.
            case token
            /// A photo.
            case photo
            /// An array of photos.
            case photos
            /// An array of sessions.
            case sessions
            /// A photo's bytes.
            case photoBytes
            /// A page for people, or a line of text.
            case page
        }

        static func ok(_ body: Body) -> Answer { Answer(status: .ok, body: body) }
        static let notModified = Answer(status: .notModified, body: .none)
    }

    /// All refusals that the call may answer.
    var allRefusals: [ServiceError] {
        refusals + sharedRefusals
    }

    private var sharedRefusals: [ServiceError] {
        // The connection answers the last three by itself, whatever is called.
        var shared: [ServiceError] = [.unavailable, .internalError, .malformedRequest, .headerTooLarge, .bodyTooSlow]
        switch authentication {
        case .public: break
        case .basic: shared += [.basicAccessDenied]
        case .token, .checksItsOwnToken: shared += [.tokenAccessDenied, .tooManyRequests]
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
