import Curl
import NIOCore
import NIOHTTP1

/// An upload as the reference client sends it, made once for all requests.
struct Upload: Sendable {
    private let body: ByteBuffer

    private static let boundary = "---------------------------14737809831466499882746641449"

    init(_ photo: ByteBuffer) {
        let head = """
            --\(Self.boundary)\r
            Content-Disposition: attachment; name="image"; filename="photo"\r
            Content-Type: application/octet-stream\r
            \r

            """
        let tail = """
            \r
            --\(Self.boundary)\r
            Content-Disposition: form-data; name="title"\r
            \r
            bench\r
            --\(Self.boundary)--\r

            """
        var body = ByteBuffer(string: head)
        body.writeImmutableBuffer(photo)
        body.writeString(tail)
        self.body = body
    }

    /// - Parameters:
    ///   - origin: The service.
    ///   - token: Whose photo it is.
    /// - Returns: The request.
    func request(to origin: String, token: String) -> CurlRequest {
        var request = CurlRequest(url: origin + "/api/upload_photo")
        request.method = .POST
        request.headers = [
            "Authorization": "Token token=\(token)",
            "Content-Type": "multipart/form-data; boundary=\(Self.boundary)",
        ]
        request.body = .bytes(body)
        return request
    }
}
