import Foundation

/// The signed URLs of photos that work now.
struct PhotoURLs: Sendable {
    /// What allows its reader to load a photo.
    enum Scope: Hashable, Sendable {
        case own
        case record(ItemKey)
        case picture(of: String)
    }

    /// What a URL is for.
    struct Purpose: Hashable, Sendable {
        let photoID: String
        let reader: String
        let scope: Scope
    }

    private var signatures: [Purpose: String] = [:]
    private var purposes: [String: Purpose] = [:]
    private static let signatureLength = 43

    /// The URL of a photo.
    ///
    /// It stays the same until it is ended.
    mutating func url(of photoID: String, for reader: String, _ scope: Scope, at origin: String) -> String {
        let purpose = Purpose(photoID: photoID, reader: reader, scope: scope)
        let signature = signatures[purpose] ?? RandomText.make(Self.signatureLength)
        (signatures[purpose], purposes[signature]) = (signature, purpose)
        return "\(origin)/photos/\(photoID)?signature=\(signature)"
    }

    /// What a signature is for; nil if it is wrong or has ended.
    func purpose(of signature: String) -> Purpose? { purposes[signature] }

    mutating func endAll() { (signatures, purposes) = ([:], [:]) }

    /// Ends the URLs that were made for a reader.
    mutating func end(of reader: String) {
        signatures = signatures.filter { $0.key.reader != reader }
        purposes = purposes.filter { $0.value.reader != reader }
    }
}
