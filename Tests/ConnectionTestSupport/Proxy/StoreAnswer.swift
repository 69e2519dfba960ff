import Foundation
import NIOCore

/// An answer with an error that the store itself did not give.
struct StoreAnswer: Sendable {
    let status: String
    /// S3's error code.
    let code: String
    var details = ""

    static let internalError = StoreAnswer(status: "500 Internal Server Error", code: "InternalError")
    static let slowDown = StoreAnswer(status: "503 Slow Down", code: "SlowDown")
    static let expiredToken = StoreAnswer(status: "400 Bad Request", code: "ExpiredToken")
    static let requestTimeTooSkewed = StoreAnswer(status: "403 Forbidden", code: "RequestTimeTooSkewed")
    /// The end of an upload in parts goes wrong after its answer has begun.
    static let errorInSuccess = StoreAnswer(status: "200 OK", code: "InternalError")

    static func authorizationHeaderMalformed(region: String) -> StoreAnswer {
        StoreAnswer(
            status: "400 Bad Request",
            code: "AuthorizationHeaderMalformed",
            details: "<Region>\(region)</Region>"
        )
    }

    /// The whole answer; one to HEAD has no document.
    func bytes(to request: ServedRequest) -> ByteBuffer {
        let document = """
            <?xml version="1.0" encoding="UTF-8"?>
            <Error><Code>\(code)</Code><Message>Sorry.</Message>\(details)<RequestId>4442587FB7D0A2F9</RequestId></Error>
            """
        let body = request.method == "HEAD" ? "" : document
        return ByteBuffer(
            string: """
                HTTP/1.1 \(status)\r
                Date: \(Self.dateFormatter.string(from: Date()))\r
                Content-Type: application/xml\r
                Content-Length: \(body.utf8.count)\r
                \r
                \(body)
                """
        )
    }

    /// As RFC 9110 wants dates, section 5.6.7.
    private static let dateFormatter: DateFormatter = {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter
    }()
}
