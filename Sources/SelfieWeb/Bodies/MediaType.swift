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

    /// The media type in small letters, without its parameters; nil when none is told.
    ///
    /// - Parameter request: The request's head.
    /// - Returns: Such as `application/json`.
    static func essence(of request: HTTPRequest) -> String? {
        request.headerFields[.contentType]?.prefix { $0 != ";" && $0 != "," }.filter { !$0.isWhitespace }.lowercased()
    }
}
