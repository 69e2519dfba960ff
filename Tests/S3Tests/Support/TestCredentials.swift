import Concurrency
import ConnectionTestSupport
import Curl
import Foundation
import S3TestSupport

@testable import S3

extension S3Credentials {
    /// Distinct keys, of which every part is recognised in a text.
    static func test(_ name: String, expiration: Date? = nil) throws -> Self {
        try Self(
            accessKeyID: "SESAMEID\(name)",
            secretAccessKey: "SESAMEKEY\(name)",
            sessionToken: "SESAMETOKEN\(name)",
            expiration: expiration
        )
    }
}

extension String {
    /// What a source answers with for ``S3Credentials/test(_:expiration:)``.
    static func credentials(_ name: String, expiration: Date, code: String? = nil) -> String {
        let code = code.map { #""Code":"\#($0)","# } ?? ""
        return .answer(
            "200 OK",
            body: """
                {\(code)"AccessKeyId":"SESAMEID\(name)","SecretAccessKey":"SESAMEKEY\(name)",\
                "Token":"SESAMETOKEN\(name)","Expiration":"\(expiration.formatted(.iso8601))"}
                """
        )
    }
}

extension S3CredentialDeadlines {
    /// Pauses so short that tests of failures are quick, and as much time for answers as a busy machine may need.
    static var short: Self {
        var deadlines = Self()
        deadlines.attempt = .seconds(60)
        deadlines.fetch = .seconds(100)
        deadlines.pause = .milliseconds(1)
        return deadlines
    }
}

/// A time in whole seconds, as in the answers of sources.
let credentialEpoch = Date(timeIntervalSince1970: 1_800_000_000)

/// Asks a source for credentials.
func fetch(
    _ source: S3CredentialSource,
    deadlines: S3CredentialDeadlines = .short,
    clock: any MonotonicClock = ContinuousClock()
) async throws -> Result<S3Credentials, S3CredentialError> {
    let exchange = CredentialExchange(curl: CurlClient(S3Client.connections()))
    let fetcher = CredentialFetcher(source: source, exchange: exchange, deadlines: deadlines, clock: clock)
    do throws(S3CredentialError) {
        return .success(try await fetcher.fetch())
    } catch {
        return .failure(error)
    }
}
