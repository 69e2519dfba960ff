import Encodings
import Foundation
import SelfieCore

/// The header that tells a browser under which name to save a photo (RFC 6266).
///
/// The name is what a client once sent, so nothing of it is taken at its word. Its path and its extension go. So does
/// every character that could end the header, hide how the name ends, or mean something to a shell or a file system.
enum ContentDisposition {
    private static let maxCharacters = 100
    private static let fallback = "photo"

    /// A photo that is shown where it is opened.
    ///
    /// - Parameters:
    ///   - fileName: The name that a client gave it; may be empty, or hold anything.
    ///   - format: What the photo really is; nil when it is not known.
    /// - Returns: For instance `inline; filename="photo.jpg"`.
    static func inline(fileName: String, format: PhotoFormat?) -> String {
        let name = name(of: fileName, extensions: format?.fileExtensions ?? ["bin"])
        let isPlain = name.utf8.allSatisfy(isPlain)
        let ascii = isPlain ? name : String(String.UnicodeScalarView(name.unicodeScalars.map(Self.ascii)))
        let header = "inline; filename=\"\(ascii)\""
        return isPlain ? header : header + "; filename*=UTF-8''\(PercentEncoding.string(of: name))"
    }

    private static func name(of fileName: String, extensions: [String]) -> String {
        let name = isOrdinary(fileName) ? fileName : cleaned(fileName)
        let ending = name.utf8.lastIndex(of: UInt8(ascii: ".")).map { name[$0...].dropFirst().lowercased() }
        // Another format's extension stays where it is, and no longer counts.
        return ending.map(extensions.contains) == true ? name : "\(name).\(extensions[0])"
    }

    /// Whether a name is what nearly all are, and needs no cleaning, which is slow.
    private static func isOrdinary(_ name: String) -> Bool {
        let ends = [name.utf8.first, name.utf8.last]
        return name.utf8.count <= maxCharacters && name.utf8.allSatisfy(isPlain)
            && ends.allSatisfy { $0 != nil && $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: " ") }
    }

    private static func cleaned(_ fileName: String) -> String {
        let base = fileName.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last
        let visible = String(String.UnicodeScalarView(base?.filter(isVisible) ?? []))
        // A leading dot hides a file, a trailing one or a space is lost on some systems.
        let trimmed = visible.trimmingCharacters(in: CharacterSet(charactersIn: ". "))
        let cut = String(trimmed.prefix(maxCharacters)).trimmingCharacters(in: CharacterSet(charactersIn: ". "))
        return cut.isEmpty ? fallback : cut
    }

    /// Neither a control character nor one that changes how its neighbours are shown, as those for direction do.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
        default: true
        }
    }

    /// What needs neither quoting nor encoding, in any browser.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case _ where byte.isASCIILetterOrDigit: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: " "): true
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "+"), UInt8(ascii: ","): true
        default: false
        }
    }

    private static func ascii(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        scalar.isASCII && isPlain(UInt8(scalar.value)) ? scalar : "_"
    }
}
