/// What a renderer accepts.
package enum RenderLimits {
    /// The most pixels of a picture.
    package static let maxPixels = 100_000_000
    /// The most pixels of a picture's side.
    package static let maxSide = 30_000
    /// The most bytes of a picture's file.
    package static let maxInputBytes = 64 << 20
    /// The most bytes of a result.
    package static let maxOutputBytes = 8 << 20
    /// How long the longer side of a result may be asked to be, in pixels.
    package static let resultSides = 1...4096
}
