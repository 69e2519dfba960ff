import Encodings
import HTTPTypes

/// The kinds of bodies that hold parameters.
enum MediaType {
    case json
    case form
    case multipart
    /// Any other: the body is not read.
    case other

    /// - Parameter request: The request's head. A POST without a `Content-Type` is a form, as in Rack.
    init(_ request: HTTPRequest) {
        guard let essence = Self.essence(of: request) else {
            self = request.method == .post ? .form : .other
            return
        }
        self =
            switch essence {
            // The synonyms that Rails registers for JSON.
            case "application/json", "text/x-json", "application/jsonrequest": .json
            case "application/x-www-form-urlencoded": .form
            case "multipart/form-data": .multipart
            case "" where request.method == .post: .form
            default: .other
            }
    }

    /// Whether a request says that its body is JSON, and means what the standard calls so.
    static func isJSON(_ request: HTTPRequest) -> Bool { essence(of: request) == "application/json" }

    /// The media type without its parameters, such as `application/json`; nil when there is no `Content-Type`.
    private static func essence(of request: HTTPRequest) -> ProtocolWord? {
        request.headerFields[.contentType].map { value in
            ProtocolWord(value.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") })
        }
    }
}
