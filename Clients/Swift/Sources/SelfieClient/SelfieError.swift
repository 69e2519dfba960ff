public import Foundation

/// What went wrong, in the terms of an app.
///
/// `localizedDescription` is a sentence that may be shown to the user.
public enum SelfieError: Error, Sendable, Hashable, Codable {
    /// There is no connection to the service.
    case offline
    /// The connection was cut, or the service did not answer in time. What was asked for may have been done.
    case interrupted
    /// The connection is not secure, so nothing was sent.
    case notSecure
    /// The service is busy or out of order. What was asked for may have been done.
    ///
    /// `retryAfter` is how long to wait, if the service or a proxy said so.
    case unavailable(retryAfter: Duration?)
    /// A limit is reached. `retryAfter` is how long to wait, if the service said so.
    case tooManyRequests(retryAfter: Duration?)
    /// Nobody is signed in, or the session has ended.
    case notSignedIn
    /// The e-mail address or the password is wrong, or there is no such account.
    case emailOrPasswordWrong
    /// The service lets nobody in whose address is not verified. A code of ``CodePurpose/signIn`` verifies it, and signs in.
    case emailUnverified
    /// The password that confirms a call is wrong.
    case passwordWrong
    /// The code from a mail is wrong, used or too old.
    case codeWrong
    /// The service does not know the app's own credential. Only a new version of the app helps.
    case appRefused
    /// The service refuses what was sent, for the reasons in the message.
    case invalid(Refusal)
    /// The user may not do this.
    case forbidden(Refusal)
    /// It does not exist, or the user may not see it.
    case notFound(Refusal)
    /// It conflicts with what is there, such as an id that is taken.
    case conflict(Refusal)
    /// Somebody else has changed it since it was read.
    case versionDiffers(Refusal)
    /// It is too large.
    case tooLarge(Refusal)
    /// The file is not a photo in a format that the service knows.
    case notAPhoto(Refusal)
    /// The file of the photo to upload is not there, or can't be read.
    case photoUnreadable
    /// The user has no room left.
    case quotaReached(Refusal)
    /// The cursor of a feed has ended, so the app has to start again without one.
    case cursorEnded(Refusal)
    /// The answer is not the service's: another server or a proxy has answered.
    case unexpectedAnswer(status: Int)
    /// The device has no room left.
    case diskFull
    /// As much waits in the outbox as the configuration allows.
    case outboxFull
    /// A file of the client can't be read or written. The text has no contents of users.
    case storage(String)

    /// What the outbox item refers to was dropped.
    case dependencyDropped

    /// A refusal as the service says it.
    public struct Refusal: Sendable, Hashable, Codable {
        /// The HTTP status.
        public let status: Int
        /// A word that never changes, such as `record_id_taken`.
        public let code: String
        /// For people, in English.
        ///
        /// It may have several sentences, each ending in a comma.
        public let message: String

        public init(status: Int, code: String, message: String) {
            (self.status, self.code, self.message) = (status, code, message)
        }
    }
}

extension SelfieError {
    /// The service's own words, if it refused the call.
    public var refusal: Refusal? {
        switch self {
        case .invalid(let refusal), .forbidden(let refusal), .notFound(let refusal), .conflict(let refusal),
            .versionDiffers(let refusal), .tooLarge(let refusal), .notAPhoto(let refusal), .quotaReached(let refusal),
            .cursorEnded(let refusal):
            refusal
        default: nil
        }
    }

    /// Whether the same call may succeed later without a change.
    public var isTransient: Bool {
        switch self {
        case .offline, .interrupted, .unavailable, .tooManyRequests: true
        default: false
        }
    }

    /// How long to wait, if the service said so.
    public var retryAfter: Duration? {
        switch self {
        case .unavailable(let pause), .tooManyRequests(let pause): pause
        default: nil
        }
    }
}

extension SelfieError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .offline: "There is no connection. Try again when you are online."
        case .interrupted: "The connection was interrupted. Try again."
        case .notSecure: "The connection is not secure, so nothing was sent."
        case .unavailable: "The service is busy. Try again in a moment."
        case .tooManyRequests(let pause?): "That was too often. Try again in \(Self.words(for: pause))."
        case .tooManyRequests(nil): "That was too often. Try again later."
        case .notSignedIn: "Please sign in."
        case .emailOrPasswordWrong: "The e-mail address or the password is wrong."
        case .emailUnverified: "The e-mail address is not verified. Ask for a code, and sign in with it."
        case .passwordWrong: "The password is wrong."
        case .codeWrong: "The code is wrong, or too old. Ask for a new one."
        case .appRefused: "This version of the app no longer works. Please update it."
        case .invalid(let refusal): refusal.sentences
        case .forbidden(let refusal) where refusal.code == "account_disabled": "This account is disabled."
        case .forbidden: "You may not do this."
        case .notFound: "It is no longer there."
        case .conflict(let refusal): refusal.sentences
        case .versionDiffers: "Somebody has changed it meanwhile. Look at it again."
        case .tooLarge: "It is too large."
        case .notAPhoto: "This file is not a photo that can be used."
        case .photoUnreadable: "The photo's file can't be read."
        case .quotaReached(let refusal): refusal.sentences
        case .cursorEnded: "Everything has to be loaded again."
        case .unexpectedAnswer: "The service can't be reached. Try again later."
        case .diskFull: "This device has no room left."
        case .outboxFull: "Too much waits to be sent. Go online, and try again."
        case .dependencyDropped: "It can't be sent without what it refers to."
        case .storage: "A file of the app can't be used."
        }
    }

    private static func words(for pause: Duration) -> String {
        let seconds = Int(pause.seconds.rounded(.up))
        if seconds == 1 { return "a second" }
        if seconds < 120 { return "\(seconds) seconds" }
        return "\((seconds + 59) / 60) minutes"
    }
}

extension SelfieError.Refusal {
    /// The message's sentences, one a line: the service joins the errors of several fields, each with a comma at its end.
    var sentences: String {
        guard message.hasSuffix(",") else { return message }
        return message.split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
            .joined(separator: "\n")
    }
}

extension SelfieError {
    /// The error that an answer means.
    ///
    /// - Parameter response: An answer whose status is not 200.
    /// - Returns: The error.
    static func of(_ response: TransportResponse) -> SelfieError {
        let pause = response.headers["retry-after"].flatMap { RetryAfter.pause($0) }
        if let refusal = response.refusal { return of(refusal, retryAfter: pause) }
        return switch response.status {
        // A server on the way takes no larger ones, however often they are sent.
        case 413: .tooLarge(Refusal(status: 413, code: "", message: "It is too large for a server on the way."))
        case 429: .tooManyRequests(retryAfter: pause)
        case 500, 502, 503, 504: .unavailable(retryAfter: pause)
        default: .unexpectedAnswer(status: response.status)
        }
    }

    private static func of(_ refusal: Refusal, retryAfter pause: Duration?) -> SelfieError {
        switch refusal.code {
        case "token_invalid", "token_expired": return .notSignedIn
        case "email_or_password_wrong": return .emailOrPasswordWrong
        case "email_unverified": return .emailUnverified
        case "password_wrong": return .passwordWrong
        case "code_invalid": return .codeWrong
        case "api_credential_wrong": return .appRefused
        // Nothing was done. The same upload is to be sent again.
        case "upload_under_way": return .unavailable(retryAfter: pause)
        case "photo_format_unknown": return .notAPhoto(refusal)
        case "photo_quota_reached", "record_quota_reached", "inbox_full", "reader_full", "role_full",
            "too_many_blocks", "too_many_devices", "too_many_subscriptions":
            return .quotaReached(refusal)
        default: break
        }
        return switch refusal.status {
        case 401, 404: .notFound(refusal)
        case 403: .forbidden(refusal)
        case 408: .interrupted
        case 409: .conflict(refusal)
        case 410 where refusal.code.hasPrefix("changes_"): .cursorEnded(refusal)
        case 410: .notFound(refusal)
        case 412: .versionDiffers(refusal)
        case 413: .tooLarge(refusal)
        case 429: .tooManyRequests(retryAfter: pause)
        case 500...: .unavailable(retryAfter: pause)
        default: .invalid(refusal)
        }
    }

    /// The error that a failed transfer means.
    static func of(_ error: TransportError) -> SelfieError {
        switch error {
        case .notConnected: .offline
        case .interrupted: .interrupted
        case .notSecure: .notSecure
        case .tooLarge: .unexpectedAnswer(status: 200)
        case .unreadableBody: .storage("The file to send can't be read.")
        case .unwritableAnswer: .storage("The answer can't be written into a file.")
        }
    }
}

extension TransportResponse {
    /// The service's refusal; nil if somebody else has answered: each refusal of the service has a code.
    var refusal: SelfieError.Refusal? {
        struct Body: Decodable { let message, code: String }
        guard let body = try? JSONCoding.decode(Body.self, from: self.body), !body.code.isEmpty else { return nil }
        return SelfieError.Refusal(status: status, code: body.code, message: body.message)
    }

    /// Whether the service may have done what was asked for, although this is no success.
    ///
    /// An answer of somebody else's says nothing about that. The service itself answers 503 also to a change that takes
    /// too long, and goes on with it. Example settings of proxies use its 503 for all that they get no answer to.
    var mayBeDone: Bool { refusal == nil || status == 408 || status >= 500 }
}

extension TransportError {
    /// Whether the service may have done what was asked for.
    var mayBeDone: Bool {
        switch self {
        case .notConnected, .notSecure, .unreadableBody: false
        case .interrupted, .tooLarge, .unwritableAnswer: true
        }
    }
}
