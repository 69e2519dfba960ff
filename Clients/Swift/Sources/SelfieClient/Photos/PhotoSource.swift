public import Foundation

/// Where the bytes of a photo to upload come from.
public enum PhotoSource: Sendable {
    case data(Data)
    /// A file that stays as it is until the upload or the outbox has it.
    case file(URL)
    /// Pieces in order. They are read once.
    case pieces(AsyncThrowingStream<Data, any Error>)

    /// Any sequence of pieces.
    public static func pieces<Pieces: AsyncSequence & Sendable>(of sequence: Pieces) -> PhotoSource
    where Pieces.Element == Data {
        .pieces(
            AsyncThrowingStream { continuation in
                let reading = Task {
                    do {
                        for try await piece in sequence { continuation.yield(piece) }
                        continuation.finish()
                    } catch {
                        continuation.finish(throwing: error)
                    }
                }
                continuation.onTermination = { _ in reading.cancel() }
            }
        )
    }
}

/// How much of an upload was sent.
public struct UploadProgress: Sendable, Hashable {
    public let sentBytes: Int64
    public let totalBytes: Int64

    /// From 0 to 1.
    public var fraction: Double { totalBytes > 0 ? min(Double(sentBytes) / Double(totalBytes), 1) : 0 }
}
