import ConnectionTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import S3TestSupport
import ServerProcesses
import Testing

@testable import Encodings
@testable import S3

/// What is taken from the store's failures, and what stays out of every description.
struct S3ErrorTests {
    /// As AWS answers it, shortened.
    static let signatureDoesNotMatch = """
        <?xml version="1.0" encoding="UTF-8"?>
        <Error><Code>SignatureDoesNotMatch</Code><Message>We calculated another &lt;one&gt;.</Message>\
        <AWSAccessKeyId>AKIASECRETISH</AWSAccessKeyId><StringToSign>AWS4-HMAC-SHA256 private</StringToSign>\
        <SignatureProvided>deadbeef</SignatureProvided><RequestId>R1</RequestId><HostId>H1</HostId></Error>
        """

    @Test("Of an error document only code, message and request id are taken")
    func document() {
        let error = Self.error(403, document: Self.signatureDoesNotMatch)
        guard case .refused(let failure) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(failure.code == "SignatureDoesNotMatch")
        #expect(failure.message == "We calculated another <one>.")
        #expect(failure.requestID == "R1")
        var printed = "\(error) \(String(reflecting: error)) \(String(reflecting: failure))"
        dump(error, to: &printed)
        for secret in ["AKIASECRETISH", "AWS4-HMAC-SHA256", "deadbeef"] { #expect(!printed.contains(secret)) }
    }

    @Test(
        "Anything else than an error document gives no field",
        arguments: ["", "Bad Gateway", "<html><Code>No</Code></html>", "<a><Error><Code>x</Code></Error></a>", "\u{0}"]
    )
    func otherDocuments(text: String) {
        let document = ErrorDocument(ByteBuffer(string: text))
        #expect(document.code == nil && document.message == nil && document.requestID == nil)
    }

    @Test("A document that breaks off gives what came before")
    func truncatedDocument() {
        #expect(ErrorDocument(ByteBuffer(string: "<Error><Code>SlowDown</Code><Mess")).code == "SlowDown")
    }

    @Test("Fields are cut to their limit and cannot forge lines")
    func fieldLimits() {
        let long = String(repeating: "x", count: 300)
        let text = "<Error><Code>\(long)</Code><Message>\(long)y</Message><RequestId>a\r\nb</RequestId></Error>"
        let document = ErrorDocument(ByteBuffer(string: text))
        #expect(document.code == long)
        #expect(document.message == long)
        #expect(document.requestID == "ab")
    }

    @Test("What comes after 64 KiB is not read")
    func documentLimit() {
        let field = "<Code>late</Code>"
        let head = "<Error>"
        let room = 65_536 - head.utf8.count - field.utf8.count
        let within = head + String(repeating: " ", count: room) + field
        let beyond = head + String(repeating: " ", count: room + field.utf8.count) + field
        #expect(ErrorDocument(ByteBuffer(string: within)).code == "late")
        #expect(ErrorDocument(ByteBuffer(string: beyond)).code == nil)
    }

    @Test(
        "Statuses and codes are sorted into what the caller can do about them",
        arguments: [
            (404, "NoSuchKey", "notFound", false), (404, nil, "notFound", false),
            (400, "InvalidArgument", "refused", false), (403, nil, "refused", false), (301, nil, "refused", false),
            (416, "InvalidRange", "refused", false), (409, "BucketAlreadyExists", "refused", false),
            (400, "RequestTimeout", "unavailable", true), (409, "OperationAborted", "unavailable", true),
            (429, nil, "unavailable", true), (500, nil, "unavailable", true), (502, nil, "unavailable", true),
            (503, "SlowDown", "unavailable", true), (501, "NotImplemented", "unavailable", false),
        ] as [(UInt, String?, String, Bool)]
    )
    func sorting(status: UInt, code: String?, name: String, isRetryable: Bool) {
        let document = code.map { "<Error><Code>\($0)</Code></Error>" } ?? ""
        let error = Self.error(status, document: document)
        #expect(Mirror(reflecting: error).children.first?.label == name)
        #expect(error.isRetryable == isRetryable)
    }

    @Test("Of a refusal without end, 64 KiB are read and no more is waited for")
    func endlessDocument() async throws {
        let head = "HTTP/1.1 404 Not Found\r\nContent-Length: 1000000000\r\n\r\n<Error><Code>NoSuchKey</Code>"
        let reply = ScriptedServer.Reply.sendAndHang(head + String(repeating: " ", count: 65_536))
        try await ScriptedServer.with([reply]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in _ = try await client.get(key: "a") }
                guard case .notFound(let refusal) = error else { throw NotInTime(what: "a refusal") }
                #expect(refusal.code == "NoSuchKey")
            }
        }
    }

    @Test("The request id may come in a header instead")
    func requestIDHeader() {
        let failure = S3Failure(
            status: .notFound,
            headers: ["x-amz-request-id": "R2"],
            document: ErrorDocument(ByteBuffer())
        )
        #expect(failure.description == "status 404, request R2")
    }

    @Test(
        "Only the one date form is read",
        arguments: [
            ("Fri, 24 May 2013 00:00:00 GMT", 1_369_353_600), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Fri, 24 May 2013 00:00:00 UTC", nil), ("Fri, 24 Mai 2013 00:00:00 GMT", nil), ("", nil),
            ("Fri, 24 May 2013 24:00:00 GMT", nil), ("2013-05-24T00:00:00Z", nil),
        ] as [(String, Double?)]
    )
    func dates(text: String, seconds: Double?) {
        #expect(HTTPDate.date(of: text)?.timeIntervalSince1970 == seconds)
    }

    private static func error(_ status: UInt, document: String) -> S3Error {
        S3Error(
            S3Failure(
                status: HTTPResponseStatus(statusCode: Int(status)),
                headers: [:],
                document: ErrorDocument(ByteBuffer(string: document))
            )
        )
    }
}
