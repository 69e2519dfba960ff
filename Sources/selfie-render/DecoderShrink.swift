import ImageFiles

/// By how much decoders make a picture smaller while they decode it, which saves time and memory.
enum DecoderShrink {
    /// Decides.
    ///
    /// At least a factor of two is left for libvips, which shrinks with a better filter.
    ///
    /// - Parameters:
    ///   - format: JPEG decoders shrink by 2, 4 or 8, WebP decoders by any factor, others not at all.
    ///   - side: The longer side of the picture.
    ///   - wanted: The longer side of the result.
    /// - Returns: The factor, at least 1.
    static func factor(_ format: ImageFormat, from side: Int, to wanted: Int) -> Double {
        let whole = Double(side) / Double(wanted)
        switch format {
        case .jpeg: return [8, 4, 2].first { whole >= $0 * 2 } ?? 1
        case .webp: return max(1, (whole / 2).rounded(.down))
        case .png, .gif, .heic, .heif, .avif: return 1
        }
    }
}
