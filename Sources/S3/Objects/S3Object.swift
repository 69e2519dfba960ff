/// An object on its way in: the head has come, the bytes follow.
package struct S3Object: Sendable {
    /// What the store says of it.
    package let info: S3ObjectInfo
    /// The bytes, to be read once; a value that is dropped unread ends the transfer.
    package let bytes: S3ByteStream
}
