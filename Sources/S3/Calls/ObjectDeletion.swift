/// An object to delete, or one of its versions.
package struct ObjectDeletion: Sendable, Hashable {
    /// The object's key.
    package let key: String
    /// The version that its put made; nil when it is not known, or the store keeps none.
    package let versionID: String?

    /// - Parameters:
    ///   - key: 1 to ``S3Client/maxKeyBytes`` bytes of UTF-8.
    ///   - versionID: as ``S3Client/put(key:body:contentType:)`` returned it.
    package init(key: String, versionID: String? = nil) {
        self.key = key
        self.versionID = versionID
    }

    /// What is got by the key alone.
    var current: Self { Self(key: key) }
}
