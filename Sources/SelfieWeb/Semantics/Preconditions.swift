import Encodings
import Glibc
import HTTPTypes

/// What a client may make its request depend on: which version of an answer it has (RFC 9110, section 13).
struct Preconditions {
    let tag: EntityTag
    /// In seconds since 1970; nil when it is not known.
    var lastModified: time_t?

    /// What becomes of a request that only reads.
    enum Outcome: Equatable {
        case proceed
        /// The client has the answer already: 304.
        case notModified
        /// The client wants another version than there is: 412.
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

    /// Whether the part that a request asks for belongs to the version that `If-Range` names, if it names one.
    func allowsRange(_ headers: HTTPFields) -> Bool {
        guard let version = headers[.ifRange] else { return true }
        if let lastModified, let date = HTTPDate.seconds(of: version) { return date == lastModified }
        // The header takes one tag, and no star.
        return version == tag.quoted
    }
}
