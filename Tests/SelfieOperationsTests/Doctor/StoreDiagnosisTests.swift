import Curl
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import S3
@testable import SelfieConfiguration
@testable import SelfieOperations

@Suite("Diagnosis of a bucket's errors")
struct StoreDiagnosisTests {
    @Test(
        "The cause has the store's own words, and the remedy what to set or to allow",
        arguments: [
            ("SignatureDoesNotMatch", 403, .list, "AWS_SECRET_ACCESS_KEY"),
            ("InvalidAccessKeyId", 403, .list, "AWS_ACCESS_KEY_ID"),
            ("ExpiredToken", 400, .list, "AWS_SESSION_TOKEN"), ("InvalidToken", 400, .list, "AWS_SESSION_TOKEN"),
            ("AccessDenied", 403, .list, "s3:ListBucket,"), ("AccessDenied", 403, .put, "s3:PutObject,"),
            ("AccessDenied", 403, .delete, "s3:DeleteObject,"), ("Other", 403, .make, "s3:CreateBucket,"),
            ("NoSuchBucket", 404, .put, "S3_BUCKET_NAME"),
            ("PermanentRedirect", 301, .put, "Set AWS_REGION=eu-west-1,"),
            ("AuthorizationHeaderMalformed", 400, .list, "Set AWS_REGION=eu-west-1,"),
            ("RequestTimeTooSkewed", 403, .list, "timedatectl"),
            ("KMS.DisabledException", 400, .put, "docs/stores.md#errors"),
            ("NotSignedUp", 403, .list, "docs/stores.md#errors"), ("TeaPot", 418, .put, "docs/stores.md#errors"),
            ("XAmzContentSHA256Mismatch", 400, .put, "proxy"), ("SlowDown", 503, .put, "again in a minute"),
            ("NoSuchKey", 404, .get, "a rule of the bucket"), ("NoSuchKey", 404, .list, "S3 interface"),
        ] as [(String, UInt, BucketStep, String)]
    )
    func codes(code: String, status: UInt, step: BucketStep, remedy: String) {
        let diagnosis = Self.diagnosis(Self.error(code, status: status), at: step)
        #expect(diagnosis.cause == "\(step.name) failed: status \(status), \(code), Sorry., request R1")
        #expect(diagnosis.remedy.contains(remedy))
    }

    @Test(
        "For an answer without a code, the status decides",
        arguments: [
            (301, "AWS_REGION"), (400, "http:// or https://"), (403, "s3:GetObject"), (404, "a rule of the bucket"),
            (503, "again in a minute"), (418, "docs/stores.md#errors"),
        ] as [(UInt, String)]
    )
    func statuses(status: UInt, remedy: String) {
        let error = S3Error(status: .init(statusCode: Int(status)), headers: [:], body: ByteBuffer(string: "<html>"))
        let diagnosis = Self.diagnosis(error, at: .get)
        #expect(diagnosis.cause == "getting an object failed: status \(status)")
        #expect(diagnosis.remedy.contains(remedy))
    }

    @Test("The remedy does not name keys if a role gives them")
    func keysOfRole() throws {
        for code in ["SignatureDoesNotMatch", "InvalidAccessKeyId", "ExpiredToken"] {
            let diagnosis = Self.diagnosis(
                Self.error(code, status: 403),
                at: .list,
                .instance(try InstanceCredentials())
            )
            #expect(diagnosis.remedy.contains("The keys come from the EC2 metadata service"), "\(code)")
            #expect(!diagnosis.remedy.contains("AWS_SECRET_ACCESS_KEY"), "\(code)")
        }
    }

    @Test("A secret in the store's words is not repeated")
    func secretInWords() throws {
        let body = "<Error><Code>SignatureDoesNotMatch</Code><Message>AKIDX with s3cr3t/X\u{1B}[31m</Message></Error>"
        let error = S3Error(status: .forbidden, headers: [:], body: ByteBuffer(string: body))
        let cause = Self.diagnosis(error, at: .list).cause
        #expect(cause.contains("*** with ***"))
        #expect(!cause.contains("\u{1B}"))
    }

    @Test(
        "An answer that does not come has a cause in plain words",
        arguments: [
            (S3NoAnswer.silent, "it does not answer in time"), (S3NoAnswer.overdue, "it does not answer in time"),
            (S3NoAnswer.malformed, "the server does not speak S3"),
            (CurlError.notHTTP, "the server does not speak S3"),
            (CurlError.timedOut(.connecting), "it does not answer in time"),
            (CurlError.timedOut(.resolving), "there is no such host"),
            (
                CurlError.timedOut(.handshake),
                "no encrypted connection can be set up, because the handshake failed: it did not end in time"
            ),
            (CurlError.cutOff, "the connection broke off"),
            (
                CurlError.tls(.selfSigned),
                "no encrypted connection can be set up, because the certificate is self-signed"
            ),
            (CurlError.refused, "nothing listens there"),
            (CurlError.unreachable, "there is no route to it"),
            (CurlError.unresolved, "there is no such host"),
            (CurlError.proxy, "the proxy that the environment names can't be used"),
        ] as [(any Error, String)]
    )
    func noAnswer(cause: any Error, text: String) {
        let diagnosis = Self.diagnosis(.unanswered(cause), at: .put)
        #expect(diagnosis.cause == "https://photos.s3.example/ can't be used: \(text)")
        #expect(!diagnosis.remedy.isEmpty)
    }

    @Test("Other bytes than were sent point to a proxy")
    func otherBytes() {
        let diagnosis = Self.diagnosis(.unanswered(S3NoAnswer.otherBytes), at: .put)
        #expect(diagnosis.cause.hasPrefix("putting an object failed: "))
        #expect(diagnosis.remedy.contains("proxy"))
    }

    private static func error(_ code: String, status: UInt) -> S3Error {
        let body = """
            <Error><Code>\(code)</Code><Message>Sorry.</Message><Region>eu-west-1</Region><RequestId>R1</RequestId></Error>
            """
        return S3Error(status: .init(statusCode: Int(status)), headers: [:], body: ByteBuffer(string: body))
    }

    private static func diagnosis(
        _ error: S3Error,
        at step: BucketStep,
        _ credentials: S3CredentialSource? = nil
    ) -> Diagnosis {
        let values = ["AWS_ACCESS_KEY_ID": "AKIDX", "AWS_SECRET_ACCESS_KEY": "s3cr3t/X"]
        guard
            let configuration = try? S3Configuration(
                bucket: "photos",
                region: "us-east-1",
                endpoint: "https://s3.example"
            ), let fixed = try? S3Credentials(accessKeyID: "AKIDX", secretAccessKey: "s3cr3t/X", sessionToken: nil)
        else { preconditionFailure("the test's own values are right") }
        return ServiceConfiguration.Bucket(configuration: configuration, credentials: credentials ?? .fixed(fixed))
            .diagnosis(of: error, at: step, secrets: Secrets(source: ConfigurationSource(values: values)))
    }
}
