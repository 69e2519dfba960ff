import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

extension Response {
    /// An answer whose body is one JSON object.
    static func json(status: HTTPResponse.Status = .ok, _ members: (inout JSONWriter) -> Void) -> Response {
        var json = JSONWriter()
        json.object(members)
        return Response(json, status: status)
    }

    /// Has caches of the user's own ask again each time, since the answer is only for one user.
    func revalidated() -> Response {
        var response = self
        response.headers[.cacheControl] = "private, no-cache"
        return response
    }

    /// The contract's answer of `status` and `message`.
    static func message(_ message: String) -> Response {
        .json { json in
            json.member("status", 200)
            json.member("message", message)
        }
    }

    /// An answer with this JSON as its body.
    init(_ json: borrowing JSONWriter, status: HTTPResponse.Status = .ok) {
        self.init(
            status: status,
            headers: [.contentType: jsonContentType],
            body: ResponseBody(byteBuffer: json.buffer)
        )
    }

    /// Forbids every cache, since the answer holds a token.
    func notStored() -> Response {
        var response = self
        response.headers[.cacheControl] = "no-store"
        return response
    }
}

/// The media type of every JSON answer.
let jsonContentType = "application/json; charset=utf-8"
