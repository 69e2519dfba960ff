/// The name of a file in an archive, which every system can unpack.
///
/// Systems differ in which names are the same: they ignore case, or how a letter with an accent is written. So a name is
/// either of ASCII alone, or it begins with a number that no other has.
package struct ZipName: Sendable, Equatable {
    /// With `/` behind a folder.
    package let text: String
    let kind: Kind

    enum Kind: Sendable, Equatable {
        case plain
        case numbered(Int, folder: String)
    }

    /// The most bytes of a name within its folder: what common file systems take.
    package static let maxBytes = 255

    /// A file that is in no folder.
    ///
    /// - Parameter text: ASCII letters, digits, `.`, `-` and `_`.
    /// - Throws: `ZipError.invalidName`.
    package init(_ text: String) throws(ZipError) {
        guard Self.isPlain(text), Self.isUsable(text) else { throw .invalidName }
        self.text = text
        kind = .plain
    }

    /// A file in a folder, whose name begins with its number.
    ///
    /// - Parameters:
    ///   - number: From 1 on.
    ///   - digitCount: How many digits it has at least.
    ///   - folder: The folder's name: ASCII letters, digits, `.`, `-` and `_`.
    ///   - rest: What follows the number: letters of any kind, and what is not in
    ///     ``isForbidden(_:)``.
    /// - Throws: `ZipError.invalidName`.
    package init(_ number: Int, digitCount: Int, in folder: String, followedBy rest: String) throws(ZipError) {
        let digits = String(number)
        let zeros = String(repeating: "0", count: max(0, min(digitCount, Self.maxBytes) - digits.utf8.count))
        let name = zeros + digits + rest
        // With a digit next to it, the number would be another one.
        guard number > 0, rest.utf8.first.map({ !(0x30...0x39).contains($0) }) ?? true,
            Self.isPlain(folder), Self.isUsable(folder), Self.isUsable(name)
        else { throw .invalidName }
        text = "\(folder)/\(name)"
        kind = .numbered(number, folder: folder)
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
    }

    /// Whether a name without a folder can be used on all systems.
    ///
    /// Sources: Microsoft, "Naming Files, Paths, and Namespaces"; APPNOTE.TXT, section 4.4.17.
    private static func isUsable(_ name: String) -> Bool {
        guard (1...maxBytes).contains(name.utf8.count), !name.unicodeScalars.contains(where: isForbidden),
            let last = name.utf8.last, last != UInt8(ascii: "."), last != UInt8(ascii: " ")
        else { return false }
        let base = name.utf8.prefix { $0 != UInt8(ascii: ".") }.map { (0x61...0x7A).contains($0) ? $0 - 32 : $0 }
        return !devices.contains(String(decoding: base, as: UTF8.self))
    }

    /// Whether no file of some system can have a character in its name.
    ///
    /// - Parameter scalar: The character.
    /// - Returns: Also true for those that are invisible or change the direction of the text.
    package static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "/", "\\", ":", "*", "?", "\"", "<", ">", "|": true
        default:
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
            default: false
            }
        }
    }

    /// Names that mean devices on Windows, with any extension.
    private static let devices: Set<String> = Set(
        ["CON", "PRN", "AUX", "NUL"] + (0...9).flatMap { ["COM\($0)", "LPT\($0)"] }
    )
}
