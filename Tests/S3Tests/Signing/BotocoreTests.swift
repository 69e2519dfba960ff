import Foundation
import NIOHTTP1
import ProcessTestSupport
import S3TestSupport
import Testing

@testable import S3

/// The signer against `botocore`, AWS's own implementation in Python.
@Suite(.timeLimit(.minutes(2)))
struct BotocoreTests {
    /// All that can be seen of a signature; the session token, the dates and the signed names are in the first step.
    ///
    /// `==` on strings takes `ü` for `u` with its dots, but the second step has the hash of the first's bytes.
    struct Steps: Codable, Equatable {
        var canonicalRequest: String
        var stringToSign: String
        var signature: String
        /// The header; nil in the presigned form.
        var authorization: String?
        /// What is sent: scheme, `Host` header, target.
        var url: String
    }

    @Test("Eight hundred random requests are signed and spelled as botocore does, step by step")
    func botocore() async throws {
        let seeds = UInt64(0)..<800
        let encoder = JSONEncoder()
        let lines = try seeds.map { String(decoding: try encoder.encode(SignatureCase(seed: $0)), as: UTF8.self) }
        let output = try await PythonScript.run("botocore_signatures.py", input: lines.joined(separator: "\n"))
        let answers = try output.split(separator: "\n").map {
            try JSONDecoder().decode(Steps.self, from: Data($0.utf8))
        }
        try #require(answers.count == seeds.count)

        var differences = 0
        for (seed, botocore) in zip(seeds, answers) {
            let ours = try Self.sign(SignatureCase(seed: seed))
            guard ours != botocore else { continue }
            differences += 1
            // One is enough to work on, and each is long.
            if differences == 1 { #expect(ours == botocore, "seed \(seed): \(lines[Int(seed)])") }
        }
        #expect(differences == 0, "of \(seeds.count)")
    }

    private static func sign(_ testCase: SignatureCase) throws -> Steps {
        let configuration = try S3Configuration(
            bucket: testCase.bucket,
            region: testCase.region,
            endpoint: testCase.endpoint,
            forcePathStyle: testCase.forcePathStyle
        )
        let credentials = try S3Credentials(
            accessKeyID: testCase.accessKeyID,
            secretAccessKey: testCase.secretAccessKey,
            sessionToken: testCase.sessionToken
        )
        let signer = Signer(credentials: credentials, region: testCase.region)
        let path = configuration.encodedPath(key: testCase.key)
        let request = UnsignedRequest(
            method: testCase.method,
            encodedPath: path,
            query: testCase.query.map { QueryItem($0[0], $0[1]) },
            headers: HTTPHeaders(testCase.headers.map { ($0[0], $0[1]) } + [("Host", configuration.host)]),
            payloadHash: S3Body(testCase.body).sha256Hex
        )
        let date = Date(timeIntervalSince1970: Double(testCase.timestamp))
        let signed =
            if let seconds = testCase.expires {
                signer.presign(request, expires: seconds, at: date)
            } else {
                signer.sign(request, at: date)
            }
        return Steps(
            canonicalRequest: signed.canonicalRequest.text,
            stringToSign: signed.stringToSign.text,
            signature: signed.signature,
            authorization: signed.headers.first(name: "Authorization"),
            url: configuration.url(encodedPath: path, encodedQuery: signed.encodedQuery)
        )
    }
}
