import CVips
import ImageFiles

/// A picture of which libvips has read the header.
struct Picture: ~Copyable {
    private let handle: OpaquePointer

    /// Reads the header with the loader of the format, and no other.
    ///
    /// Nil when the picture is damaged, or libvips has no such loader.
    ///
    /// - Parameters:
    ///   - format: What the leading bytes say.
    ///   - bytes: The file. They must stay as long as the picture.
    ///   - shrink: By how much the decoder may make it smaller, see `vips_picture_open`.
    init?(_ format: ImageFormat, _ bytes: UnsafeRawBufferPointer, shrink: Double = 1) {
        let loader =
            switch format {
            case .jpeg: vips_format_jpeg
            case .png: vips_format_png
            case .gif: vips_format_gif
            case .webp: vips_format_webp
            case .heic, .heif, .avif: vips_format_heif
            }
        guard let handle = vips_picture_open(loader, bytes.baseAddress, bytes.count, shrink) else { return nil }
        self.handle = handle
    }

    deinit { vips_picture_close(handle) }

    /// In pixels, upright, and made smaller by the decoder.
    var size: (width: Int, height: Int) {
        let (width, height) = (Int(vips_picture_width(handle)), Int(vips_picture_height(handle)))
        return vips_picture_lies(handle) ? (height, width) : (width, height)
    }

    /// Decodes, turns and shrinks.
    ///
    /// - Parameter size: Of the result.
    /// - Returns: The pixels; nil when the picture is damaged.
    consuming func pixels(size: (width: Int, height: Int)) -> Pixels? {
        var pixels = vips_pixels()
        guard vips_picture_shrink(handle, Int32(size.width), Int32(size.height), &pixels) else { return nil }
        return Pixels(pixels)
    }

    /// Forgets the color profile.
    ///
    /// - Returns: Whether there was one.
    func dropProfile() -> Bool { vips_picture_drop_profile(handle) }
}

/// Decoded pixels in sRGB or grey.
struct Pixels: ~Copyable {
    private var pixels: vips_pixels

    fileprivate init(_ pixels: vips_pixels) {
        self.pixels = pixels
    }

    deinit { vips_free(pixels.bytes) }

    /// JPEG if no pixel is transparent, else WebP; nil on failure.
    ///
    /// The result has nothing of the picture but its pixels. It stays until the process ends.
    consuming func encoded() -> UnsafeRawBufferPointer? {
        var count = 0
        let bytes: UnsafeMutableRawPointer?
        if vips_pixels_are_opaque(&pixels) {
            vips_pixels_make_opaque(&pixels)
            bytes = vips_pixels_jpeg(&pixels, &count)
        } else {
            bytes = vips_pixels_webp(&pixels, &count)
        }
        return bytes.map { UnsafeRawBufferPointer(start: $0, count: count) }
    }
}
