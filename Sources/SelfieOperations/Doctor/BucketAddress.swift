import S3

/// The address of a bucket, for advice.
struct BucketAddress: Sendable, Equatable {
    let bucket: String
    let region: String
    /// Host and port.
    ///
    /// The bucket's name stands before them, unless it is in the path.
    let host: String
    let usesPathStyle: Bool
    /// Where the keys come from.
    let origin: S3CredentialOrigin

    init(_ configuration: S3Configuration, origin: S3CredentialOrigin) {
        bucket = configuration.bucket
        region = configuration.region
        let url = configuration.url()
        host = url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first.map(String.init) ?? url
        usesPathStyle = configuration.usesPathStyle
        self.origin = origin
    }
}
