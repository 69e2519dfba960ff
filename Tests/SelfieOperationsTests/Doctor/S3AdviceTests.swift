import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import S3
@testable import SelfieConfiguration
@testable import SelfieOperations

@Suite("Advice about a bucket's errors")
struct S3AdviceTests {
    @Test(
        "Each code that people meet is told in plain words, with what to set or to allow",
        arguments: [
            (
                "SignatureDoesNotMatch", 403, .list, "the secret key does not fit",
                "AWS_SECRET_ACCESS_KEY is not the secret"
            ),
            ("InvalidAccessKeyId", 403, .list, "does not know the access key", "AWS_ACCESS_KEY_ID was mistyped"),
            ("AccessDenied", 403, .list, "not allowed", "s3:ListBucket on arn:aws:s3:::photos."),
            ("AccessDenied", 403, .put, "not allowed", "s3:PutObject on arn:aws:s3:::photos/*."),
            ("AccessDenied", 403, .get, "not allowed", "s3:GetObject on arn:aws:s3:::photos/*."),
            ("AccessDenied", 403, .presign, "not allowed", "s3:GetObject on arn:aws:s3:::photos/*."),
            ("AccessDenied", 403, .delete, "not allowed", "s3:DeleteObject on arn:aws:s3:::photos/*."),
            ("AccessDenied", 403, .make, "not allowed", "s3:CreateBucket on arn:aws:s3:::photos."),
            ("AccessDenied", 403, .abortUpload, "not allowed", "s3:AbortMultipartUpload on"),
            ("AccessDenied", 403, .listUploads, "not allowed", "s3:ListBucketMultipartUploads on"),
            ("NoSuchBucket", 404, .put, "there is no bucket photos", "S3_BUCKET_NAME"),
            ("PermanentRedirect", 301, .put, "in another region", "Set AWS_REGION=eu-west-1."),
            ("AuthorizationHeaderMalformed", 400, .list, "in another region", "Set AWS_REGION=eu-west-1."),
            ("InvalidLocationConstraint", 400, .make, "has no region us-east-1", "Set AWS_REGION to one that"),
            (
                "AccessDenied", 403, .deleteVersions, "not allowed",
                "s3:ListBucketVersions and s3:DeleteObjectVersion on"
            ),
            ("IllegalLocationConstraintException", 400, .make, "in another region", "AWS_REGION"),
            ("RequestTimeTooSkewed", 403, .list, "clock is wrong", "timedatectl"),
            ("ExpiredToken", 400, .list, "have ended", "AWS_SESSION_TOKEN"),
            ("InvalidToken", 400, .list, "have ended", "AWS_SESSION_TOKEN"),
            ("InvalidBucketName", 400, .put, "the bucket's name", "S3_BUCKET_NAME must be 3 to 63"),
            ("BucketAlreadyExists", 409, .make, "belongs to someone else", "another name"),
            ("KMS.DisabledException", 400, .put, "encryption key", "kms:GenerateDataKey"),
            ("NotSignedUp", 403, .list, "account is not active", "console"),
            ("QuotaExceeded", 403, .put, "full", "quota"),
            ("XAmzContentSHA256Mismatch", 400, .put, "other bytes", "changes what passes"),
            ("NotImplemented", 501, .listUploads, "does not know this call", "Update the store"),
            ("SlowDown", 503, .put, "overloaded", "again in a minute"),
        ] as [(String, UInt, BucketStep, String, String)]
    )
    func codes(code: String, status: UInt, step: BucketStep, text: String, advice: String) {
        let error = Self.error(code, status: status)
        let explanation = Self.advice().explanation(of: error, at: step)
        #expect(explanation.text.hasPrefix("\(step.name) failed: "))
        #expect(explanation.text.contains(text) && explanation.text.contains(code))
        #expect(explanation.advice.contains(advice))
        #expect(explanation.advice.contains("The store said: Sorry.") && explanation.advice.contains("(request R1)"))
    }

    @Test(
        "An answer without a code is told by its status",
        arguments: [
            (301, "in another region"), (400, "does not understand"), (403, "not allowed"), (404, "is not there"),
            (405, "does not know this call"), (503, "out of order"), (418, "not known here"),
        ] as [(UInt, String)]
    )
    func statuses(status: UInt, text: String) {
        let error = S3Error(status: .init(statusCode: Int(status)), headers: [:], body: ByteBuffer(string: "<html>"))
        let explanation = Self.advice().explanation(of: error, at: .get)
        #expect(explanation.text.contains(text) && explanation.text.contains("status \(status)"))
        #expect(!explanation.advice.isEmpty)
    }

    @Test("A code that nobody knows comes with the store's own words and the request's id")
    func unknownCode() {
        let explanation = Self.advice().explanation(of: Self.error("TeaPot", status: 418), at: .put)
        #expect(
            explanation.text == "putting an object failed: the store gives an error that is not known here (TeaPot)"
        )
        #expect(explanation.advice.contains("status 418, TeaPot, Sorry., request R1"))
    }

    @Test("Of keys that a role gives, nobody is told to set others")
    func keysOfRole() {
        for code in ["SignatureDoesNotMatch", "InvalidAccessKeyId", "ExpiredToken"] {
            let explanation = Self.advice(.instance).explanation(of: Self.error(code, status: 403), at: .list)
            #expect(explanation.advice.contains("The keys come from the EC2 metadata service"), "\(code)")
            #expect(!explanation.advice.contains("AWS_SECRET_ACCESS_KEY"), "\(code)")
        }
    }

    @Test("A secret in the store's words is not repeated")
    func secretInWords() throws {
        let body = "<Error><Code>SignatureDoesNotMatch</Code><Message>AKIDX with s3cr3t/X\u{1B}[31m</Message></Error>"
        let error = S3Error(status: .forbidden, headers: [:], body: ByteBuffer(string: body))
        let advice = Self.advice().explanation(of: error, at: .list).advice
        #expect(advice.contains("The store said: *** with ***"))
        #expect(!advice.contains("\u{1B}"))
    }

    @Test(
        "What keeps an answer from coming is told by its kind",
        arguments: [
            (S3NoAnswer.silent, "does not answer in time"), (S3NoAnswer.overdue, "does not answer in time"),
            (S3NoAnswer.malformed, "does not speak S3"), (HTTPParserError.invalidConstant, "does not speak S3"),
            (S3NoAnswer.otherBytes, "has other bytes than were sent"),
            (HTTPClientError.connectTimeout, "does not answer in time"),
            (HTTPClientError.remoteConnectionClosed, "broke off"),
            (HTTPClientError.tlsHandshakeTimeout, "no encrypted connection"),
            (IOError(errnoCode: ECONNREFUSED, reason: "connect"), "nothing listens at"),
            (IOError(errnoCode: EHOSTUNREACH, reason: "connect"), "there is no way to"),
            (IOError(errnoCode: ECONNRESET, reason: "read"), "broke off"),
        ] as [(any Error, String)]
    )
    func noAnswer(cause: any Error, text: String) {
        let explanation = Self.advice().explanation(of: .unanswered(cause), at: .put)
        #expect(explanation.text.contains(text))
        #expect(!explanation.advice.isEmpty)
    }

    private static func error(_ code: String, status: UInt) -> S3Error {
        let body = """
            <Error><Code>\(code)</Code><Message>Sorry.</Message><Region>eu-west-1</Region><RequestId>R1</RequestId></Error>
            """
        return S3Error(status: .init(statusCode: Int(status)), headers: [:], body: ByteBuffer(string: body))
    }

    private static func advice(_ origin: S3CredentialOrigin = .fixed) -> S3Advice {
        let source = ConfigurationSource(values: ["AWS_ACCESS_KEY_ID": "AKIDX", "AWS_SECRET_ACCESS_KEY": "s3cr3t/X"])
        return S3Advice(
            address: BucketAddress(bucket: "photos", region: "us-east-1", host: "s3.example", origin: origin),
            secrets: Secrets(source: source)
        )
    }
}

extension BucketAddress {
    fileprivate init(bucket: String, region: String, host: String, origin: S3CredentialOrigin) {
        guard
            let configuration = try? S3Configuration(bucket: bucket, region: region, endpoint: "https://\(host)")
        else { preconditionFailure("the test's own names are right") }
        self.init(configuration, origin: origin)
    }
}
