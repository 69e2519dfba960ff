import Glibc
import RenderInterface

/// Why a picture was not rendered.
package enum RenderFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// `selfie-render` does not exist, or may not be executed.
    case programMissing
    /// libvips can't be opened, or is older than 8.13, or libseccomp is missing.
    case libraryMissing
    /// This libvips can't read HEIC, or AVIF.
    case formatMissing
    /// A call of the system failed before the renderer could begin, such as `pipe`, or a part of its sandbox.
    case notStarted
    /// The picture has more pixels than are allowed.
    case tooManyPixels
    /// The picture's file has more bytes than are allowed.
    case tooManyBytes
    /// The picture is of no known format, or damaged.
    case unreadable
    /// The renderer ran for too long, and was killed.
    case timeExceeded
    /// The renderer used too much memory, and was killed.
    case memoryExceeded
    /// The renderer crashed, with this signal.
    case crashed(signal: Int32)
    /// The renderer made a system call that its sandbox forbids, and was killed.
    case callForbidden
    /// What the renderer wrote is no JPEG or WebP of the size that was asked for, or too large.
    case outputInvalid
    /// Something else killed the renderer, such as the system when memory was short.
    case killed
    /// The caller's task was cancelled.
    case cancelled

    /// A word for a column and for a metric's label; it never changes.
    package var word: String {
        switch self {
        case .programMissing: "program_missing"
        case .libraryMissing: "library_missing"
        case .formatMissing: "format_missing"
        case .notStarted: "not_started"
        case .tooManyPixels: "too_many_pixels"
        case .tooManyBytes: "too_many_bytes"
        case .unreadable: "unreadable"
        case .timeExceeded: "time_exceeded"
        case .memoryExceeded: "memory_exceeded"
        case .crashed: "crashed"
        case .callForbidden: "call_forbidden"
        case .outputInvalid: "output_invalid"
        case .killed: "killed"
        case .cancelled: "cancelled"
        }
    }

    /// One failure for each word.
    private static let all: [RenderFailure] = [
        .programMissing, .libraryMissing, .formatMissing, .notStarted, .tooManyPixels, .tooManyBytes, .unreadable,
        .timeExceeded, .memoryExceeded, .crashed(signal: SIGSEGV), .callForbidden, .outputInvalid, .killed, .cancelled,
    ]

    /// All words.
    package static let words = all.map(\.word)

    /// Whether the same picture would most likely fail again on this machine, so that trying again is no use.
    package var isOfThePicture: Bool {
        switch self {
        case .tooManyPixels, .tooManyBytes, .unreadable, .timeExceeded, .memoryExceeded, .crashed, .callForbidden,
            .outputInvalid:
            true
        case .programMissing, .libraryMissing, .formatMissing, .notStarted, .killed, .cancelled: false
        }
    }

    /// A sentence for people.
    package var description: String {
        switch self {
        case .programMissing: "The program selfie-render is missing."
        case .libraryMissing: "libvips 8.13 or libseccomp is missing (Debian's libvips42 and libseccomp2)."
        case .formatMissing: "This libvips can't read the picture's format."
        case .notStarted: "The renderer could not be started."
        case .tooManyPixels: "The picture has too many pixels."
        case .tooManyBytes: "The picture's file is too large to make a small one."
        case .unreadable: "The picture is damaged."
        case .timeExceeded: "The picture takes too long to decode."
        case .memoryExceeded: "The picture needs too much memory to decode."
        case .crashed(let signal): "The renderer crashed with signal \(signal)."
        case .callForbidden: "The renderer made a system call that it may not make."
        case .outputInvalid: "The renderer's result is no picture of the size that was asked for."
        case .killed: "The renderer was killed from outside."
        case .cancelled: "The rendering was cancelled."
        }
    }

    /// What an exit code means; nil for those that are no failures.
    init?(_ exit: RenderExit) {
        switch exit {
        case .rendered, .smallEnough: return nil
        case .tooManyPixels: self = .tooManyPixels
        case .unreadable: self = .unreadable
        case .tooManyBytes: self = .tooManyBytes
        case .resultTooLarge: self = .outputInvalid
        case .libraryMissing, .notLinked: self = .libraryMissing
        case .formatMissing: self = .formatMissing
        case .notWritten, .sandboxFailed, .usage: self = .notStarted
        }
    }
}
