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
        guard let contentType = request.headerFields[.contentType] else {
            self = request.method == .post ? .form : .other
            return
        }
        let essence = contentType.prefix { $0 != ";" && $0 != "," }.filter { !$0.isWhitespace }.lowercased()
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
}
