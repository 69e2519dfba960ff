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
        guard let size = Picture(format, bytes)?.size else { throw failure(of: format) }
        let plan = try RenderPlan(format, of: size, longerSide: longerSide)
        guard let pixels = pixels(format, bytes, plan) else { throw failure(of: format) }
        guard let result = pixels.encoded() else { throw RenderFailed(exit: .unreadable) }
        guard result.count <= RenderLimits.maxOutputBytes else { throw RenderFailed(exit: .resultTooLarge) }
        return result
    }

    private func pixels(_ format: ImageFormat, _ bytes: UnsafeRawBufferPointer, _ plan: RenderPlan) -> Pixels? {
        if let pixels = Picture(format, bytes, shrink: plan.shrink)?.pixels(size: plan.size) { return pixels }
        // Browsers ignore a color profile that is damaged or does not fit.
        guard let picture = Picture(format, bytes, shrink: plan.shrink), picture.dropProfile() else { return nil }
        return picture.pixels(size: plan.size)
    }

    /// The reason why a picture could not be read.
    private func failure(of format: ImageFormat) -> RenderFailed {
        RenderFailed(exit: readable.contains(format) ? .unreadable : .formatMissing)
    }
}
