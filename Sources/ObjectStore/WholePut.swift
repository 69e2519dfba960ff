import S3

/// A put that sends an object as a whole, and not in parts.
package enum WholePut {
    /// The most bytes of an object that a bucket takes so.
    ///
    /// Larger ones go in parts, which may take longer.
    package static let maxBytes = S3UploadPolicy().maxSinglePutBytes
}
