/// How a renderer ends: its exit code.
///
/// `selfie-render` exits with it, and the service reads it. A renderer that is killed has none.
package enum RenderExit: Int32, CaseIterable, Sendable {
    /// The result was written.
    case rendered = 0
    /// The picture is not larger than asked for, so it is its own small one. Nothing was written.
    case smallEnough = 10
    /// The picture has more than ``RenderLimits/maxPixels`` pixels, or a side of more than ``RenderLimits/maxSide``.
    case tooManyPixels = 11
    /// The picture is of no known format, or damaged.
    case unreadable = 12
    /// The picture's file has more than ``RenderLimits/maxInputBytes`` bytes.
    case tooManyBytes = 13
    /// The result has more than ``RenderLimits/maxOutputBytes`` bytes.
    case resultTooLarge = 14
    /// The result could not be written: nobody reads it any more.
    case notWritten = 15
    /// libvips can't be opened, is older than 8.13, or can't read JPEG, PNG, GIF and WebP.
    case libraryMissing = 20
    /// This libvips can't read HEIC, or AVIF.
    case formatMissing = 21
    /// The system refused a part of the sandbox.
    case sandboxFailed = 22
    /// The arguments are not ``RenderArguments``.
    case usage = 64
    /// A library that the program is linked with is missing, such as libseccomp. The dynamic linker exits with it.
    case notLinked = 127

    /// What the program prints, for people who start it themselves.
    package var reason: String {
        switch self {
        case .rendered: "rendered"
        case .smallEnough: "small enough"
        case .tooManyPixels: "too many pixels"
        case .unreadable: "unreadable"
        case .tooManyBytes: "too many bytes"
        case .resultTooLarge: "result too large"
        case .notWritten: "not written"
        case .libraryMissing: "libvips is missing"
        case .formatMissing: "libvips lacks this format"
        case .sandboxFailed: "no sandbox"
        case .notLinked: "a library is missing"
        case .usage: "usage: selfie-render SIDE [PARENT] <picture >result"
        }
    }
}
