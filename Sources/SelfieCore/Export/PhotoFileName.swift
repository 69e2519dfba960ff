import ImageFiles
import ZipArchive

/// The name of a photo's file in an archive, such as `photos/0001-My-selfie.jpg`.
enum PhotoFileName {
    private static let folder = "photos"
    /// The whole title is in `photos.json`.
    private static let maxTitleCharacters = 60
    /// Far below what a name may have, for one with several marks on each letter.
    private static let maxTitleBytes = 180
    /// With fewer digits, files are not listed in their order.
    private static let minDigitCount = 4

    /// - Parameters:
    ///   - number: The photo's position, from 1 on.
    ///   - count: How many photos there are.
    ///   - title: What its owner called it.
    ///   - format: nil when it is not known.
    /// - Returns: The name. No other number has the same.
    /// - Throws: `ZipError.invalidName`.
    static func name(_ number: Int, of count: Int, title: String, format: ImageFormat?) throws(ZipError) -> ZipName {
        let title = plain(title)
        return try ZipName(
            number,
            digitCount: max(minDigitCount, String(count).utf8.count),
            in: folder,
            followedBy: (title.isEmpty ? "" : "-") + title + "." + (format?.fileExtensions[0] ?? "bin")
        )
    }

    /// The letters and digits of a title, and a hyphen for what is between them.
    private static func plain(_ title: String) -> String {
        var (text, bytes, characters) = ("", 0, 0)
        var isAfterGap = false
        for character in title.prefix(maxTitleCharacters * 4) {
            guard character.unicodeScalars.allSatisfy(isOfWord) else {
                isAfterGap = true
                continue
            }
            let added = (isAfterGap && !text.isEmpty ? "-" : "") + String(character)
            bytes += added.utf8.count
            characters += added.count
            guard bytes <= maxTitleBytes, characters <= maxTitleCharacters else { break }
            text += added
            isAfterGap = false
        }
        return text
    }

    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .nonspacingMark, .spacingMark:
            !ZipName.isForbidden(scalar)
        default: scalar == "_"
        }
    }
}
