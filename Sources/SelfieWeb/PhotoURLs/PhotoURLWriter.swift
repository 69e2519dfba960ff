import Cryptography
import Encodings

/// Writes URLs of photos.
///
/// The parts that are the same in all URLs of a day are made once.
struct PhotoURLWriter {
    private let prefix: [UInt8]
    private let infix: [UInt8]
    /// The text that is signed after a photo's id.
    private let suffix: [UInt8]
    private let authenticator: HMACSHA256

    init(_ day: PhotoURLDay) {
        prefix = Array("\(day.origin)\(PhotoURLDay.path)".utf8)
        let seriesItem = day.series == 0 ? "" : "\(PhotoURLDay.seriesName)=\(day.series)&"
        let scopeItem = day.scope.map { "\(PhotoURLDay.scopeName)=\(PercentEncoding.string(of: $0.text))&" } ?? ""
        infix = Array(
            "?\(PhotoURLDay.expiresName)=\(day.expires)&\(seriesItem)\(scopeItem)\(PhotoURLDay.signatureName)=".utf8
        )
        suffix = PhotoURLDay.signedText(ofSeries: day.series, for: day.scope)
        authenticator = day.authenticator
    }

    /// Writes a photo's URL.
    ///
    /// It is `<origin>/photos/<id>?expires=<seconds since 1970>&signature=<43 letters of base64url>`. After the user
    /// has ended earlier URLs, `series=<number>&` is in the middle. So is `for=<scope>&`, unless it is for the photo's
    /// owner.
    func appendURL(of randomID: UnsafeRawBufferPointer, to text: inout TextBuffer) {
        prefix.withUnsafeBytes { text.append($0) }
        PercentEncoding.append(randomID, to: &text)
        infix.withUnsafeBytes { text.append($0) }
        let code = authenticator.code { hash in
            hash.update(randomID)
            if !suffix.isEmpty { suffix.withUnsafeBytes { hash.update($0) } }
        }
        code.withUnsafeBytes { Base64URL.append($0, to: &text) }
    }
}
