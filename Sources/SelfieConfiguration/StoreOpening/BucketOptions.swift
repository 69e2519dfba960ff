package import Concurrency
import ObjectStore
package import S3

/// How a bucket is used.
///
/// Change single values after making this.
package struct BucketOptions: Sendable {
    /// Which objects are put whole, and how others are cut.
    package var uploads = S3UploadPolicy()
    /// How long calls may take.
    package var deadlines = S3Deadlines()
    /// The clock for calls and puts.
    ///
    /// Connecting, and silence within an answer, use the system's.
    package var clock: any MonotonicClock = ContinuousClock()
    /// When a call is tried again.
    package var retries = S3RetryPolicy()
    /// The pauses before a broken transfer begins again, until it brings bytes.
    package var transferPauses = S3Download.pauses
    /// Headers for each request to the bucket, which are not signed.
    package var callerHeaders: @Sendable () -> [(name: String, value: String)] = { [] }

    /// The usual options.
    package init() {}
}
