import Foundation
import ServerProcesses

/// A store that somebody has, whose address and keys are in the environment.
package struct GivenStore: S3Server {
    package let endpoint: String
    package let accessKeyID: String
    package let secretAccessKey: String
    package let sessionToken: String?
    package let region: String
    package let forcesPathStyle: Bool

    /// Whether there is one.
    package static var isThere: Bool { environment["SELFIE_STORE_URL"] != nil }

    private static let environment = ProcessInfo.processInfo.environment

    /// Takes it from `SELFIE_STORE_URL`, and the variables that the service has for a bucket.
    ///
    /// - Throws: `GivenStoreError` when one is missing.
    package init() throws {
        func value(_ name: String) throws -> String {
            guard let value = Self.environment[name] else { throw GivenStoreError.missing(name) }
            return value
        }
        endpoint = try value("SELFIE_STORE_URL")
        accessKeyID = try value("AWS_ACCESS_KEY_ID")
        secretAccessKey = try value("AWS_SECRET_ACCESS_KEY")
        sessionToken = Self.environment["AWS_SESSION_TOKEN"]
        region = Self.environment["AWS_REGION"] ?? "us-east-1"
        forcesPathStyle = Self.environment["S3_FORCE_PATH_STYLE"] == "true"
    }

    package static func start() throws -> Self { try Self() }

    /// It is not ours to stop.
    package func stop() {}
}

package enum GivenStoreError: Error {
    case missing(String)
}
