import HTTPTypes
import Testing

@testable import SelfieWeb

@Suite("The kind of a request's body")
struct MediaTypeTests {
    @Test(
        "The header decides, in any case and with any parameters",
        arguments: [
            ("application/json", MediaType.json),
            ("application/json; charset=utf-8", .json),
            ("Application/JSON;charset=ISO-8859-1", .json),
            (" application/json ", .json),
            ("text/x-json", .json),
            ("application/x-www-form-urlencoded", .form),
            ("application/x-www-form-urlencoded; charset=UTF-8", .form),
            ("multipart/form-data; boundary=x", .multipart),
            ("multipart/form-data", .multipart),
            ("multipart/mixed; boundary=x", .other),
            ("application/jsonp", .other),
            ("text/plain", .other),
            ("image/png", .other),
            ("json", .other),
            ("", .form),
            (";", .form),
        ]
    )
    func header(contentType: String, expected: MediaType) {
        #expect(MediaType(request(.post, contentType)) == expected)
    }

    @Test("Without the header, only a POST has a form", arguments: [HTTPRequest.Method.get, .post, .delete, .head])
    func missing(method: HTTPRequest.Method) {
        #expect(MediaType(request(method, nil)) == (method == .post ? .form : .other))
        #expect(MediaType(request(method, "")) == (method == .post ? .form : .other))
    }

    private func request(_ method: HTTPRequest.Method, _ contentType: String?) -> HTTPRequest {
        var request = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: "/")
        request.headerFields[.contentType] = contentType
        return request
    }
}
