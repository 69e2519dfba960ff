import JSON
import OrderedCollections

/// What Google has said of a push.
package struct FCMAnswer: Sendable, Equatable {
    package let status: Int
    /// A word, such as `UNREGISTERED`; nil for none.
    package let code: String?
    /// The members of the request that Google finds fault with, such as `message.token`.
    package let faultyFields: [String]
    /// How long Google asks to wait.
    package let retryAfter: Duration?

    package init(status: Int, code: String? = nil, faultyFields: [String] = [], retryAfter: Duration? = nil) {
        (self.status, self.code, self.faultyFields, self.retryAfter) = (status, code, faultyFields, retryAfter)
    }

    /// What is to be done.
    package enum Verdict: Sendable, Equatable {
        case accepted
        /// The device token is not valid any more, or never was.
        case gone
        /// The access token is not valid any more.
        case expiredToken
        /// It may be taken later.
        case notNow
        /// It will never be taken.
        case refused
    }

    /// Source: Google, "FCM error codes" of the HTTP v1 API.
    package var verdict: Verdict {
        switch (status, code) {
        case (200, _): .accepted
        case (404, "UNREGISTERED"): .gone
        // Other arguments are the sender's fault, and not the device's.
        case (400, "INVALID_ARGUMENT"): faultyFields.contains("message.token") ? .gone : .refused
        // Google can't speak to Apple for this app: an operator can mend that.
        case (401, "THIRD_PARTY_AUTH_ERROR"): .notNow
        // The device token is of another project.
        case (403, "SENDER_ID_MISMATCH"): .gone
        case (403, _): .notNow
        case (401, _): .expiredToken
        case (429, _), (500..., _), (408, _): .notNow
        default: .refused
        }
    }

    /// Reads an answer's body.
    ///
    /// Source: Google, "FcmError" and "BadRequest" of google.rpc.
    init(status: Int, body: some Collection<UInt8>, retryAfter: Duration?) {
        var (code, fields): (String?, [String]) = (nil, [])
        if case .object(let members)? = try? JSONValue.parse(body), case .object(let error)? = members["error"] {
            if case .string(let text)? = error["status"] { code = text.pushReason }
            if case .array(let details)? = error["details"] {
                for case .object(let detail) in details {
                    if case .string(let text)? = detail["errorCode"] { code = text.pushReason }
                    guard case .array(let violations)? = detail["fieldViolations"] else { continue }
                    for case .object(let violation) in violations {
                        if case .string(let field)? = violation["field"] { fields.append(field) }
                    }
                }
            }
        }
        self.init(status: status, code: code, faultyFields: fields, retryAfter: retryAfter)
    }
}
