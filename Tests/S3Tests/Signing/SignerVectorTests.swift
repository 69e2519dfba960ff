import Foundation
import NIOHTTP1
import S3TestSupport
import Testing

@testable import Encodings
@testable import S3

/// The examples that AWS publishes with their intermediate strings.
///
/// Sources: AWS, "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk" and
/// "Authenticating Requests: Using Query Parameters".
struct SignerVectorTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: UnsignedRequest
        let canonicalRequest: String
        let canonicalRequestHash: String
        let signature: String
    }

    static let vectors = [
        Vector(
            testDescription: "GET object",
            request: UnsignedRequest(
                method: "GET",
                encodedPath: "/test.txt",
                headers: ["Host": host, "Range": "bytes=0-9"]
            ),
            canonicalRequest: """
                GET
                /test.txt

                host:examplebucket.s3.amazonaws.com
                range:bytes=0-9
                x-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                x-amz-date:20130524T000000Z

                host;range;x-amz-content-sha256;x-amz-date
                e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                """,
            canonicalRequestHash: "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972",
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
        Vector(
            testDescription: "PUT object",
            request: UnsignedRequest(
                method: "PUT",
                encodedPath: "/" + PercentEncoding.path("test$file.text"),
                headers: [
                    "Host": host, "Date": "Fri, 24 May 2013 00:00:00 GMT",
                    "x-amz-storage-class": "REDUCED_REDUNDANCY",
                ],
                payloadHash: S3Body("Welcome to Amazon S3.").sha256Hex
            ),
            canonicalRequest: """
                PUT
                /test%24file.text

                date:Fri, 24 May 2013 00:00:00 GMT
                host:examplebucket.s3.amazonaws.com
                x-amz-content-sha256:44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072
                x-amz-date:20130524T000000Z
                x-amz-storage-class:REDUCED_REDUNDANCY

                date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class
                44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072
                """,
            canonicalRequestHash: "9e0e90d9c76de8fa5b200d8c849cd5b8dc7a3be3951ddb7f6a76b4158342019d",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        ),
        Vector(
            testDescription: "GET bucket lifecycle",
            request: UnsignedRequest(
                method: "GET",
                encodedPath: "/",
                query: [QueryItem("lifecycle")],
                headers: ["Host": host]
            ),
            canonicalRequest: """
                GET
                /
                lifecycle=
                host:examplebucket.s3.amazonaws.com
                x-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                x-amz-date:20130524T000000Z

                host;x-amz-content-sha256;x-amz-date
                e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                """,
            canonicalRequestHash: "9766c798316ff2757b517bc739a67f6213b4ab36dd5da2f94eaebf79c77395ca",
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        ),
        Vector(
            testDescription: "list objects",
            request: UnsignedRequest(
                method: "GET",
                encodedPath: "/",
                query: [QueryItem("prefix", "J"), QueryItem("max-keys", "2")],
                headers: ["Host": host]
            ),
            canonicalRequest: """
                GET
                /
                max-keys=2&prefix=J
                host:examplebucket.s3.amazonaws.com
                x-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                x-amz-date:20130524T000000Z

                host;x-amz-content-sha256;x-amz-date
                e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                """,
            canonicalRequestHash: "df57d21db20da04d7fa30298dd4488ba3a2b47ca3a489c74750e0f1e7df1b9b7",
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        ),
    ]

    @Test("AWS's header examples come out string by string", arguments: vectors)
    func headerForm(_ vector: Vector) throws {
        let signed = try Self.signer().sign(vector.request, at: Self.date)

        #expect(signed.canonicalRequest.text == vector.canonicalRequest)
        #expect(signed.stringToSign.canonicalRequestHash == vector.canonicalRequestHash)
        #expect(
            signed.stringToSign.text == """
                AWS4-HMAC-SHA256
                20130524T000000Z
                20130524/us-east-1/s3/aws4_request
                \(vector.canonicalRequestHash)
                """
        )
        #expect(signed.signature == vector.signature)
        #expect(
            signed.headers["Authorization"] == [
                "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                    + "SignedHeaders=\(signed.canonicalRequest.signedHeaders),Signature=\(vector.signature)"
            ]
        )
    }

    @Test("AWS's presigned example comes out string by string")
    func presignedForm() throws {
        let request = UnsignedRequest(method: "GET", encodedPath: "/test.txt", headers: ["Host": Self.host])
        let signed = try Self.signer().presign(request, expires: 86_400, at: Self.date)

        let query =
            "X-Amz-Algorithm=AWS4-HMAC-SHA256"
            + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
            + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
        #expect(
            signed.canonicalRequest.text == """
                GET
                /test.txt
                \(query)
                host:examplebucket.s3.amazonaws.com

                host
                UNSIGNED-PAYLOAD
                """
        )
        #expect(
            signed.stringToSign.text == """
                AWS4-HMAC-SHA256
                20130524T000000Z
                20130524/us-east-1/s3/aws4_request
                3bfa292879f6447bbcda7001decf97f4a54dc650c8942174ae0a9121cf58ad04
                """
        )
        let signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        #expect(signed.signature == signature)
        #expect(signed.encodedQuery == "\(query)&X-Amz-Signature=\(signature)")
    }

    static let host = "examplebucket.s3.amazonaws.com"
    static let date = Date(timeIntervalSince1970: 1_369_353_600)

    static func signer(sessionToken: String? = nil) throws -> Signer {
        Signer(
            credentials: try S3Credentials(
                accessKeyID: "AKIAIOSFODNN7EXAMPLE",
                secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                sessionToken: sessionToken
            ),
            region: "us-east-1"
        )
    }
}
