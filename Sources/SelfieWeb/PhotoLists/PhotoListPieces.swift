import JSON
import NIOCore
import SelfiePhotos

/// The JSON of a list, made piece by piece from a few rows at a time.
struct PhotoListPieces {
    private let selected: SelectedPhotos
    private let photos: PhotoStore
    private let urls: PhotoURLWriter
    private var rows: PhotoRows?
    /// The next photo of `rows`.
    private var nextRow = 0
    /// How many photos of the list were read.
    private var readCount = 0
    private var hasBegun = false
    private(set) var hasEnded = false
    private var writtenCount = 0
    private var madeBytes = 0
    /// Whether every selected photo still existed when it was read.
    private(set) var hasAllPhotos = true

    /// The most rows that are read with one statement.
    ///
    /// Each has two kilobytes at most.
    static let maxRowCount = 250
    /// A piece ends with the photo that makes it so long, in bytes.
    static let pieceBytes = 60 * 1024
    /// The memory of a piece: the usual photo that makes it too long fits.
    private static let pieceCapacity = 64 * 1024
    /// About how many bytes a photo takes, for the first memory of a piece.
    private static let usualPhotoBytes = 384

    init(_ selected: SelectedPhotos, photos: PhotoStore, urls: PhotoURLDay) {
        self.selected = selected
        self.photos = photos
        self.urls = PhotoURLWriter(urls)
    }

    /// About how many bytes the whole list has, to judge by the pieces that were made.
    var estimatedBytes: Int {
        writtenCount > 0 ? madeBytes / writtenCount * selected.count : 0
    }

    /// Makes the next piece.
    ///
    /// - Returns: Some bytes; nil after the last.
    /// - Throws: `PostgresError`.
    mutating func next() async throws -> ByteBuffer? {
        guard !hasEnded else { return nil }
        let usualBytes = (selected.count - writtenCount) * Self.usualPhotoBytes + 2
        var json = JSONWriter(capacity: min(usualBytes, Self.pieceCapacity), isAfterElement: writtenCount > 0)
        if !hasBegun { json.beginArray() }
        hasBegun = true
        repeat {
            try await readRows()
            while let rows, nextRow < rows.count, json.byteCount < Self.pieceBytes {
                json.object { rows[nextRow].writeJSON(to: &$0, urls: urls) }
                nextRow += 1
                writtenCount += 1
            }
            hasEnded = readCount == selected.count && nextRow == rows?.count ?? 0
        } while !hasEnded && json.byteCount < Self.pieceBytes
        if hasEnded { json.endArray() }
        madeBytes += json.byteCount
        return json.buffer
    }

    /// Reads rows when the last ones are used up, if there are more.
    private mutating func readRows() async throws {
        while nextRow == rows?.count ?? 0, readCount < selected.count {
            let range = readCount..<min(readCount + Self.maxRowCount, selected.count)
            let read = try await photos.rows(range, of: selected)
            hasAllPhotos = hasAllPhotos && read.count == range.count
            (rows, nextRow, readCount) = (read, 0, range.upperBound)
        }
    }
}
