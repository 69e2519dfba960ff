import Encodings
package import FoundationEssentials
import NIOHTTP1

/// The details of a failed call: the store's answer, or the reason why there was none.
package struct S3Failure: Error {
    /// The HTTP status; nil when no answer came.
    package private(set) var status: Int?
    /// S3's error code, such as `NoSuchKey`.
    ///
    /// Nil when the answer named none; answers to HEAD never do.
    package private(set) var code: String?
    /// The store's sentence about it, cut to 300 characters.
    package private(set) var message: String?
    /// The id by which the store's operators find the request.
    package private(set) var requestID: String?
    /// Why no answer came; nil when one did.
    package private(set) var cause: (any Error)?
    /// The bucket's region, when the request went to another.
    package private(set) var bucketRegion: String?
    /// Whether the connection ended while the request's body was on its way.
    ///
    /// That can lose an answer that came early, such as a refusal.
    private(set) var brokeOffBody = false
    /// When the store last took or sent a byte, by our clock; nil when it gave no sign of life that counts.
    private(set) var lastSignOfLife: ContinuousClock.Instant?
    /// The store's time when it answered.
    package private(set) var date: Date?

    /// No answer came.
    ///
    /// - Parameter cause: why.
    init(cause: any Error) { self.cause = cause }

    /// The connection ended while the request's body was on its way.
    ///
    /// - Parameters:
    ///   - cause: why.
    ///   - lastSignOfLife: when the store last took a part of the body.
    init(brokenOffBy cause: any Error, lastSignOfLife: ContinuousClock.Instant) {
        self.cause = cause
        self.lastSignOfLife = lastSignOfLife
        brokeOffBody = true
    }

    /// One part of a call for many objects failed.
    init(code: String, message: String?) {
        self.code = ErrorDocument.printable(code)
        self.message = message.map(ErrorDocument.printable)
    }

    /// The store answered, but not with success.
    ///
    /// - Parameters:
    ///   - status: the answer's status.
    ///   - headers: the answer's headers.
    ///   - document: the answer's body, as far as it came.
    ///   - brokeOffBody: whether the connection ended before the document did, with the request's body on its way.
    ///   - instant: when it answered, by our clock.
    init(
        status: HTTPResponseStatus,
        headers: HTTPHeaders,
        document: ErrorDocument,
        brokeOffBody: Bool = false,
        at instant: ContinuousClock.Instant? = nil
    ) {
        lastSignOfLife = instant
        self.brokeOffBody = brokeOffBody
        self.status = Int(status.code)
        code = document.code
        message = document.message
        requestID = document.requestID ?? headers.first(name: "x-amz-request-id").map(ErrorDocument.printable)
        bucketRegion = headers.first(name: "x-amz-bucket-region") ?? document.region
        date = headers.first(name: "date").flatMap(HTTPDate.date(of:))
    }
}

extension S3Failure: CustomStringConvertible, CustomDebugStringConvertible {
    /// Status, code, message, request id and cause, as far as known.
    package var description: String {
        var parts: [String] = []
        if let status { parts.append("status \(status)") }
        if let code { parts.append(code) }
        if let message { parts.append(message) }
        if let requestID { parts.append("request \(requestID)") }
        if let cause { parts.append("\(cause)") }
        return parts.joined(separator: ", ")
    }

    /// The same as ``description``.
    package var debugDescription: String { description }
}
