import HTTPTypes

/// The kinds of bodies that hold parameters.
enum MediaType {
    case json
    case form
    case multipart
    /// None of these: the body is not looked at.
    case other

    /// - Parameter request: The head, of which method and `Content-Type` count: Rack takes a POST without a type for a
    ///   form.
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
