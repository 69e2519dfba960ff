import NIOHTTP1

@testable package import S3

extension S3Client {
    /// Switches the keeping of old versions on, or off again.
    ///
    /// Source: AWS, "PutBucketVersioning".
    ///
    /// - Parameter isOn: Whether versions are kept from now on. Those that were kept stay.
    /// - Throws: `S3Error`.
    package func keepVersions(_ isOn: Bool) async throws(S3Error) {
        var document = RequestDocument("VersioningConfiguration")
        document.add("Status", isOn ? "Enabled" : "Suspended")
        let request = S3Request(method: .PUT, query: [QueryItem("versioning")], body: document.body)
        try await send(request, by: deadline(in: S3Deadlines.patient.call))
    }

    /// Moves an object to an archive, from which the store gives nothing out.
    ///
    /// Source: AWS, "CopyObject" and "Amazon S3 storage classes".
    ///
    /// - Parameters:
    ///   - key: Names the object.
    ///   - bucket: The bucket that it is in.
    /// - Throws: `S3Error`.
    package func archive(key: String, of bucket: String) async throws(S3Error) {
        let headers: HTTPHeaders = ["x-amz-storage-class": "GLACIER", "x-amz-copy-source": "/\(bucket)/\(key)"]
        let request = S3Request(method: .PUT, key: key, headers: headers)
        try await send(request, by: deadline(in: S3Deadlines.patient.call))
    }

    /// All versions and markers in the bucket, as `key version`, sorted.
    ///
    /// - Returns: One text for each.
    /// - Throws: `S3Error`.
    package func allVersions() async throws(S3Error) -> [String] {
        var versions: [String] = []
        var next: PageMarker?
        repeat {
            let page = try await listVersions(from: next)
            versions += page.entries.map { "\($0.key) \($0.versionID)" }
            next = page.next
        } while next != nil
        return versions.sorted()
    }
}
