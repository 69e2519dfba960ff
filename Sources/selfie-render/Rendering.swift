import ImageFiles
import RenderInterface

/// Makes a small picture of a large one.
struct Rendering {
    /// The formats that this libvips can read.
    let readable: Set<ImageFormat>

    /// Renders.
    ///
    /// - Parameters:
    ///   - bytes: The picture's file. It must stay until this returns.
    ///   - longerSide: The longer side of the result, in pixels.
    /// - Returns: A JPEG or WebP, which stays until the process ends.
    /// - Throws: The reason why there is none.
    func render(_ bytes: UnsafeRawBufferPointer, longerSide: Int) throws(RenderFailed) -> UnsafeRawBufferPointer {
        guard let format = ImageFormat(leadingBytes: bytes.prefix(ImageFormat.prefixBytes)) else {
            throw RenderFailed(exit: .unreadable)
        }
        let shrink = try shrink(format, bytes, longerSide: longerSide)
        guard let pixels = pixels(format, bytes, longerSide: longerSide, shrink: shrink) else {
            throw failure(of: format)
        }
        guard let result = pixels.encoded() else { throw RenderFailed(exit: .unreadable) }
        guard result.count <= RenderLimits.maxOutputBytes else { throw RenderFailed(exit: .resultTooLarge) }
        return result
    }

    /// Checks the size that the header has, and decides by how much the decoder shrinks.
    private func shrink(
        _ format: ImageFormat,
        _ bytes: UnsafeRawBufferPointer,
        longerSide: Int
    ) throws(RenderFailed) -> Double {
        guard let picture = Picture(format, bytes) else { throw failure(of: format) }
        let (width, height) = picture.size
        let longer = max(width, height)
        guard longer <= RenderLimits.maxSide, width * height <= RenderLimits.maxPixels else {
            throw RenderFailed(exit: .tooManyPixels)
        }
        guard longer > longerSide else { throw RenderFailed(exit: .smallEnough) }
        return DecoderShrink.factor(format, from: longer, to: longerSide)
    }

    private func pixels(
        _ format: ImageFormat,
        _ bytes: UnsafeRawBufferPointer,
        longerSide: Int,
        shrink: Double
    ) -> Pixels? {
        if let pixels = Picture(format, bytes, shrink: shrink)?.pixels(longerSide: longerSide) { return pixels }
        // Browsers ignore a color profile that is damaged or does not fit.
        guard let picture = Picture(format, bytes, shrink: shrink), picture.dropProfile() else { return nil }
        return picture.pixels(longerSide: longerSide)
    }

    /// The reason why a picture could not be read.
    private func failure(of format: ImageFormat) -> RenderFailed {
        RenderFailed(exit: readable.contains(format) ? .unreadable : .formatMissing)
    }
}
