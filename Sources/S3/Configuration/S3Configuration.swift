import Encodings

/// The bucket, and how it is addressed.
///
/// Addressing follows AWS's "Virtual hosting of general purpose buckets": the bucket is part of the host's name. It is
/// the first part of the path when that is asked for, or when the endpoint is an IP address or `localhost`. The same
/// holds for a name with a dot: no wildcard certificate matches it.
package struct S3Configuration: Sendable, Hashable {
    /// The bucket's name, 3 to 63 characters.
    package let bucket: String
    /// The region that signatures name, such as `eu-west-1`.
    package private(set) var region: String
    /// Whether the bucket is the first part of the path instead of the host's name.
    package let usesPathStyle: Bool
    /// Where the store listens.
    private(set) var endpoint: Endpoint
    /// The URL of the store, without a path.
    package var storeURL: String { "\(endpoint.scheme)://\(endpoint.authority)" }
    /// Whether the endpoint is AWS's own and changes with the region.
    let followsRegion: Bool

    /// Checks and takes the settings.
    ///
    /// - Parameters:
    ///   - bucket: the bucket's name; need not exist yet.
    ///   - region: the region; stores without regions usually want `us-east-1` or `auto`.
    ///   - endpoint: a URL of scheme, host and perhaps port, such as `http://127.0.0.1:9000`; nil means AWS's own,
    ///     `https://s3.<region>.amazonaws.com`.
    ///   - forcePathStyle: puts the bucket in the path even where the host's name could hold it.
    /// - Throws: the case of ``S3ConfigurationError`` that names the bad setting.
    package init(
        bucket: String,
        region: String,
        endpoint: String? = nil,
        forcePathStyle: Bool = false
    ) throws(S3ConfigurationError) {
        if let error = Self.errors(bucket: bucket, region: region, endpoint: endpoint).first { throw error }
        self.bucket = bucket
        self.region = region
        self.endpoint = try Endpoint(url: endpoint ?? Self.regionalURL(region))
        followsRegion = self.endpoint.isOfAWS
        self.usesPathStyle = forcePathStyle || bucket.contains(".") || self.endpoint.hasNoSubdomains
    }

    /// All errors in the settings, to report them together.
    ///
    /// - Parameters:
    ///   - bucket: the bucket's name; nil when it is not known.
    ///   - region: the region.
    ///   - endpoint: the store's URL; nil means AWS's own.
    /// - Returns: a case for each bad setting.
    package static func errors(bucket: String?, region: String, endpoint: String?) -> [S3ConfigurationError] {
        var errors: [S3ConfigurationError] = []
        if let bucket, !isBucketName(bucket) { errors.append(.bucket(bucket)) }
        if !isRegionName(region) { errors.append(.region(region)) }
        guard let endpoint else { return errors }
        do { _ = try Endpoint(url: endpoint) } catch { errors.append(error) }
        return errors
    }

    /// The same bucket in another region.
    ///
    /// - Parameter region: The region that the store named.
    /// - Returns: The bucket's configuration; nil when this is not a region's name.
    func moved(to region: String) -> S3Configuration? {
        guard Self.isRegionName(region) else { return nil }
        var moved = self
        moved.region = region
        if followsRegion {
            guard let endpoint = try? Endpoint(url: Self.regionalURL(region)) else { return nil }
            moved.endpoint = endpoint
        }
        return moved
    }

    /// Source: AWS, "Amazon S3 endpoints and quotas"; China's regions are a partition of their own.
    private static func regionalURL(_ region: String) -> String {
        "https://s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
    }

    /// The `Host` header: without the port where the scheme implies it, as it must be signed.
    var host: String {
        usesPathStyle ? endpoint.authority : "\(bucket).\(endpoint.authority)"
    }

    /// The path on the wire of an object, or of the bucket itself: percent-encoded once, with its dot segments.
    func encodedPath(key: String?) -> String {
        let bucketPath = usesPathStyle ? "/\(bucket)" : ""
        guard let key else { return bucketPath.isEmpty ? "/" : bucketPath }
        return bucketPath + "/" + PercentEncoding.path(key)
    }

    /// The URL on the wire; the query comes encoded, without its question mark.
    func url(encodedPath: String, encodedQuery: String) -> String {
        let query = encodedQuery.isEmpty ? "" : "?\(encodedQuery)"
        return "\(endpoint.scheme)://\(host)\(encodedPath)\(query)"
    }

    /// The URL of an object, or of the bucket itself, without a signature.
    ///
    /// - Parameter key: The object; nil for the bucket.
    /// - Returns: The URL. It shows only what the store lets anybody see.
    package func url(key: String? = nil) -> String {
        url(encodedPath: encodedPath(key: key), encodedQuery: "")
    }

    private static func isRegionName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }
    }

    private static func isBucketName(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard (3...63).contains(bytes.count), let first = bytes.first, let last = bytes.last else { return false }
        let isPlain = { (byte: UInt8) in byte.isASCIILetterOrDigit && !(0x41...0x5A).contains(byte) }
        return isPlain(first) && isPlain(last) && !name.contains("..")
            && bytes.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }
}
