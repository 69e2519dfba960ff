import ImageFiles
import RenderInterface

/// Renders a tiny picture of each format, before the sandbox is closed.
///
/// Libraries open files and set themselves up when they are first used. Later they can't.
struct WarmUp {
    /// The formats that this libvips can read.
    let readable: Set<ImageFormat>

    /// Whether the formats are among them that no libvips is without.
    var isFit: Bool { readable.isSuperset(of: [.jpeg, .png, .gif, .webp]) }

    /// Renders.
    init() {
        let samples: [(format: ImageFormat, bytes: [UInt8])] = [
            (.jpeg, PackageResources.profile_jpg), (.jpeg, PackageResources.cmyk_jpg),
            (.png, PackageResources.transparent_png), (.gif, PackageResources.photo_gif),
            (.webp, PackageResources.photo_webp), (.heic, PackageResources.photo_heic),
            (.avif, PackageResources.photo_avif),
        ]
        var readable = Set(ImageFormat.allCases)
        for (format, bytes) in samples {
            let isRendered = bytes.withUnsafeBytes { bytes in
                let rendering = Rendering(readable: [])
                return (try? rendering.render(bytes, longerSide: 8)) != nil
            }
            if !isRendered { readable.remove(format) }
        }
        // The general brand of HEIF, with pictures of either kind.
        if !readable.isSuperset(of: [.heic, .avif]) { readable.remove(.heif) }
        self.readable = readable
    }
}
