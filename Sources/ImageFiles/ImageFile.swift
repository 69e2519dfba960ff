/// An image's format and size, read from its file without decoding pixels.
package struct ImageFile: Sendable, Equatable {
    package let format: ImageFormat
    /// In pixels, as the image is to be shown: turned where the file says so.
    package let size: ImageSize

    /// Reads a file's structure as far as the image's size, and looks for the image's end where that is asked for.
    ///
    /// It reads a few parts of the file only, however long that is. What a file may hold in front of its size is limited:
    /// ``FileBytes/maxSteps``. Only a JPEG or PNG that does not end with its image's end is read through for it.
    ///
    /// Bytes behind the image's end are allowed, such as the video of a moving photo. A GIF needs no end: many lack it,
    /// and are shown by all.
    ///
    /// - Parameters:
    ///   - length: The file's length in bytes.
    ///   - windowBytes: How many bytes to ask for at a time.
    ///   - mustBeWhole: Whether a file that is cut off behind its size is no image.
    ///   - bytes: Gives the bytes of a range within `0..<length`.
    /// - Returns: The image; nil when the file is none, is damaged in front of its size, or is cut off.
    /// - Throws: What `bytes` throws.
    package static func read(
        length: Int,
        windowBytes: Int = 16 * 1024,
        mustBeWhole: Bool = false,
        _ bytes: @escaping (Range<Int>) async throws -> [UInt8]
    ) async throws -> ImageFile? {
        var file = FileBytes(length: length, windowBytes: windowBytes, read: bytes)
        do {
            let prefix = try await file.bytes(at: 0, count: min(length, ImageFormat.prefixBytes))
            guard let format = ImageFormat(leadingBytes: prefix) else { return nil }
            let size =
                switch format {
                case .jpeg: try await JPEGFile.size(&file, mustBeWhole: mustBeWhole)
                case .png: try await PNGFile.size(&file, mustBeWhole: mustBeWhole)
                case .gif: try await GIFFile.size(&file)
                case .webp: try await WebPFile.size(&file, mustBeWhole: mustBeWhole)
                case .heic, .heif, .avif: try await HEIFFile.size(&file, mustBeWhole: mustBeWhole)
                }
            return ImageFile(format: format, size: size)
        } catch is NoImage {
            return nil
        }
    }
}

/// The size of an image, in pixels.
package struct ImageSize: Sendable, Equatable {
    package let width: Int
    package let height: Int

    /// The most pixels in a line or a column, which a signed number of 32 bits holds.
    static let maxSide = Int(Int32.max)

    /// - Throws: `NoImage` for a side of no pixels, or of too many.
    init(width: Int, height: Int) throws(NoImage) {
        guard (1...Self.maxSide).contains(width), (1...Self.maxSide).contains(height) else { throw NoImage() }
        self.width = width
        self.height = height
    }

    private init(turning size: ImageSize) {
        width = size.height
        height = size.width
    }

    /// The size after a quarter turn.
    var turned: ImageSize { ImageSize(turning: self) }
}

/// A file is no image, is damaged in front of its size, or is cut off.
struct NoImage: Error {}
