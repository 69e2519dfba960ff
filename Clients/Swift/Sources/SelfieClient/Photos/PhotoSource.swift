public import Foundation

/// Where the bytes of a photo to upload come from.
public enum PhotoSource: Sendable {
    case data(Data)
    /// A file that stays as it is until the upload or the outbox has it.
    ///
    /// If it can't be read, the upload throws ``SelfieError/photoUnreadable``.
    case file(URL)
    /// A function that hands over pieces in order. It is called once.
    case writer(@Sendable (_ write: (Data) throws -> Void) async throws -> Void)

    /// Any sequence of pieces.
    ///
    /// A piece is asked for when the one before is on the disk.
    ///
    /// - Parameter sequence: The pieces, in order.
    /// - Returns: The source, for one upload.
    public static func pieces<Pieces: AsyncSequence & Sendable>(of sequence: Pieces) -> PhotoSource
    where Pieces.Element == Data {
        .writer { write in
            for try await piece in sequence { try write(piece) }
        }
    }
}

/// How much of an upload was sent.
public struct UploadProgress: Sendable, Hashable {
    public let sentBytes: Int64
    public let totalBytes: Int64

    /// From 0 to 1.
    public var fraction: Double { totalBytes > 0 ? min(Double(sentBytes) / Double(totalBytes), 1) : 0 }
}
