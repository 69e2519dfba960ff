import Encodings
import Glibc
import HTTPTypes

/// The version of an answer, for requests that depend on the client's version (RFC 9110, section 13).
struct Preconditions {
    let tag: EntityTag
    /// In seconds since 1970; nil when it is not known.
    var lastModified: time_t?

    /// The result for a request that only reads.
    enum Outcome: Equatable {
        case proceed
        /// The client has the answer already: 304.
        case notModified
        /// The client wants another version than the present one: 412.
        case failed
    }

    /// Evaluates the request's conditions in the order of section 13.2.2.
    func outcome(_ headers: HTTPFields) -> Outcome {
        if let list = headers[.ifMatch] {
            guard tag.isNamedStrongly(in: list) else { return .failed }
        } else if let lastModified, let limit = headers[.ifUnmodifiedSince].flatMap({ HTTPDate.seconds(of: $0) }) {
            guard lastModified <= limit else { return .failed }
        }
        if let list = headers[.ifNoneMatch] { return tag.isNamedWeakly(in: list) ? .notModified : .proceed }
        if let lastModified, let limit = headers[.ifModifiedSince].flatMap({ HTTPDate.seconds(of: $0) }) {
            return lastModified <= limit ? .notModified : .proceed
        }
        return .proceed
    }

    /// Whether a part may be sent.
    ///
    /// With `If-Range`, only a part of the version that it names may.
    func allowsRange(_ headers: HTTPFields) -> Bool {
        guard let version = headers[.ifRange] else { return true }
        if let lastModified, let date = HTTPDate.seconds(of: version) { return date == lastModified }
        // The header takes one tag, and no star.
        return version.hasSameBytes(as: tag.quoted)
    }
}
