package import S3TestSupport

@testable import SelfieApp

extension VersionedBucket {
    /// Runs a body with a service on a new, empty bucket.
    ///
    /// - Parameters:
    ///   - sweeps: Whether the service works in the background.
    ///   - body: Uses the service and the bucket.
    /// - Throws: What the body throws, or what keeps the service from starting.
    package static func withService(
        sweeps: Bool = false,
        _ body: @Sendable (TestService, VersionedBucket) async throws -> Void
    ) async throws {
        try await with { bucket in
            try await TestService.run(
                store: .s3,
                settings: bucket.settings,
                adjust: { $0.worksInBackground = sweeps }
            ) { try await body($0, bucket) }
        }
    }
}
