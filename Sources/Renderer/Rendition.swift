import ImageFiles
import RenderInterface

/// A small picture made of a photo: a JPEG, or a WebP if it is transparent, upright, in sRGB, without metadata.
package struct Rendition: Sendable, Equatable {
    /// At most 8 MiB.
    package let bytes: [UInt8]
    /// `image/jpeg` or `image/webp`.
    package let contentType: String
    /// In pixels.
    package let width: Int
    /// In pixels.
    package let height: Int

    /// Checks what a renderer wrote, which a photo may have subverted.
    ///
    /// Only what the structure of a JPEG or WebP needs is kept. libvips 8.14 adds Exif to a WebP, although it is told not to.
    ///
    /// - Parameters:
    ///   - bytes: What was written.
    ///   - longerSide: What was asked for, in pixels.
    /// - Throws: `outputInvalid`.
    init(checking bytes: [UInt8], longerSide: Int) async throws(RenderFailure) {
        guard bytes.count <= RenderLimits.maxOutputBytes else { throw .outputInvalid }
        let (image, stripped): (ImageFile?, StrippedImage?)
        do {
            let read: (Range<Int>) async throws -> [UInt8] = { Array(bytes[$0]) }
            image = try await ImageFile.read(length: bytes.count, mustBeWhole: true, read)
            stripped = try await StrippedImage.read(length: bytes.count, read)
        } catch {
            throw .outputInvalid
        }
        guard let image, let stripped, image.format == .jpeg || image.format == .webp,
            max(image.size.width, image.size.height) == longerSide
        else { throw .outputInvalid }
        self.bytes = stripped.pieces.flatMap { piece in
            switch piece {
            case .file(let range): Array(bytes[range])
            case .bytes(let new): new
            case .zeros(let count): [UInt8](repeating: 0, count: count)
            }
        }
        contentType = image.format.contentType
        (width, height) = (image.size.width, image.size.height)
    }
}

/// What a renderer says about a photo.
package enum RenderOutcome: Sendable, Equatable {
    case rendition(Rendition)
    /// The photo is not larger than asked for, so it is its own small one.
    case smallEnough
}
