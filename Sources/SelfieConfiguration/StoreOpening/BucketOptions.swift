import ObjectStore
package import S3

/// How a bucket is used; change single values after.
package struct BucketOptions: Sendable {
    /// Which objects go to it whole.
    package var uploads = S3UploadPolicy()
    /// How long calls may take.
    package var deadlines = S3Deadlines()
    /// The clock for calls and puts; connecting and pauses in an answer use the system's.
    package var time = S3Time.system
    /// When a call is tried again.
    package var retries = S3RetryPolicy()
    /// The pauses before a transfer that broke off is begun anew, until it brings something.
    package var transferPauses = S3Download.pauses

    /// The options in use.
    package init() {}
}
