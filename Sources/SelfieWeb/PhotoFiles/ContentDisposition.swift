import Encodings
import ImageFiles
import SelfieCore

/// The header with the name under which a browser saves a photo (RFC 6266).
///
/// A client sent the name, so it is not trusted. Its path and its extension are removed. So is every character that
/// could end the header, hide the name's end, or mean something to a shell or a file system.
enum ContentDisposition {
    private static let maxCharacters = 100
    private static let fallback = "photo"

    /// The header for a photo that the browser shows.
    ///
    /// - Parameters:
    ///   - fileName: The name that a client gave it. It may be empty or hold anything.
    ///   - format: The photo's real format; nil when it is not known.
    /// - Returns: For instance `inline; filename="photo.jpg"`.
    static func inline(fileName: String, format: ImageFormat?) -> String {
        let name = name(of: fileName, extensions: format?.fileExtensions ?? ["bin"])
        let isPlain = name.utf8.allSatisfy(isPlain)
        let ascii = isPlain ? name : String(String.UnicodeScalarView(name.unicodeScalars.map(Self.ascii)))
        let header = "inline; filename=\"\(ascii)\""
        return isPlain ? header : header + "; filename*=UTF-8''\(PercentEncoding.string(of: name))"
    }

    private static func name(of fileName: String, extensions: [String]) -> String {
        let name = isOrdinary(fileName) ? fileName : cleaned(fileName)
        let ending = name.utf8.lastIndex(of: UInt8(ascii: ".")).map { name[$0...].dropFirst().lowercased() }
        // Another format's extension stays as a part of the name.
        return ending.map(extensions.contains) == true ? name : "\(name).\(extensions[0])"
    }

    /// Whether a name needs no cleaning, which is slow.
    ///
    /// Nearly all names are so.
    private static func isOrdinary(_ name: String) -> Bool {
        let ends = [name.utf8.first, name.utf8.last]
        return name.utf8.count <= maxCharacters && name.utf8.allSatisfy(isPlain)
            && ends.allSatisfy { $0 != nil && $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: " ") }
    }

    private static func cleaned(_ fileName: String) -> String {
        let base = fileName.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last
        let visible = String(String.UnicodeScalarView(base?.filter(isVisible) ?? []))
        // A leading dot hides a file, a trailing one or a space is lost on some systems.
        let trimmed = visible.trimming(". ")
        let cut = String(trimmed.prefix(maxCharacters)).trimming(". ")
        return cut.isEmpty ? fallback : cut
    }

    /// Not a control character, and not one that changes how its neighbours are shown.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
        default: true
        }
    }

    /// A byte that needs no quoting and no encoding in any browser.
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
