/// An object whose head has arrived.
///
/// Its bytes follow.
package struct S3Object: Sendable {
    /// Its length, type and tag.
    package let info: S3ObjectInfo
    /// The bytes, which can be read once.
    ///
    /// Dropping them unread ends the transfer.
    package let bytes: S3ByteStream
}
