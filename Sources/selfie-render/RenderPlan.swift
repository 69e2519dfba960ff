import ImageFiles
import RenderInterface

/// What is decided by a picture's header, before its pixels are decoded.
struct RenderPlan {
    /// The result's size, in pixels.
    let size: (width: Int, height: Int)
    /// By how much the decoder makes the picture smaller, which saves time and memory: at least 1.
    let shrink: Double

    /// Decides.
    ///
    /// - Parameters:
    ///   - format: The picture's format.
    ///   - size: The picture's size, upright.
    ///   - longerSide: The longer side of the result.
    /// - Throws: `tooManyPixels`, or `smallEnough`.
    init(
        _ format: ImageFormat,
        of size: (width: Int, height: Int),
        longerSide: Int
    ) throws(RenderFailed) {
        let (longer, shorter) = (max(size.width, size.height), min(size.width, size.height))
        guard longer <= RenderLimits.maxSide, longer * shorter <= RenderLimits.maxPixels else {
            throw RenderFailed(exit: .tooManyPixels)
        }
        guard longer > longerSide else { throw RenderFailed(exit: .smallEnough) }
        // libvips fails for a picture that would have no pixel in one direction.
        let shorterSide = max(1, (shorter * longerSide * 2 + longer) / (longer * 2))
        self.size = size.width >= size.height ? (longerSide, shorterSide) : (shorterSide, longerSide)
        let whole = Double(longer) / Double(longerSide)
        shrink = Self.shrink(format, by: min(whole, Double(shorter)))
    }

    /// JPEG decoders shrink by 2, 4 or 8, WebP decoders by any factor, others not at all.
    ///
    /// At least a factor of two is left for libvips, which shrinks with a better filter.
    private static func shrink(_ format: ImageFormat, by whole: Double) -> Double {
        switch format {
        case .jpeg: [8, 4, 2].first { whole >= $0 * 2 } ?? 1
        case .webp: max(1, (whole / 2).rounded(.down))
        case .png, .gif, .heic, .heif, .avif: 1
        }
    }
}
