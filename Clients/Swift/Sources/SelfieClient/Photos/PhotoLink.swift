public import Foundation

/// Where a photo can be loaded from: a URL that needs no token, and ends after a day or two.
///
/// ``Photos`` renews it when it has ended. Only the link of an upload with `isListed: false` can't be renewed: the photo
/// belongs to records, and ``Record/photo(_:)`` is its lasting link. The URL's signature is in no description.
public struct PhotoLink: Sendable, Hashable {
    /// What to ask for a new URL when this one has ended.
    enum Origin: Sendable, Hashable {
        case ownPhoto
        case record(path: [String], field: String)
        case member(String)
        case profile
    }

    private let signedURL: URL
    let origin: Origin

    init(_ signedURL: URL, _ origin: Origin) { (self.signedURL, self.origin) = (signedURL, origin) }

    /// The `random_id` of the photo.
    public var id: String { signedURL.lastPathComponent }

    /// The URL as it is now, for views that load pictures by themselves.
    ///
    /// - Parameter size: Which picture of the photo.
    /// - Returns: The URL. It works for as long as its signature says.
    public func url(_ size: PictureSize = .original) -> URL {
        guard size != .original, var components = URLComponents(url: signedURL, resolvingAgainstBaseURL: false) else {
            return signedURL
        }
        components.percentEncodedQuery =
            (components.percentEncodedQuery.map { $0 + "&" } ?? "") + "size=\(size.rawValue)"
        return components.url ?? signedURL
    }
}

extension PhotoLink: CustomStringConvertible, CustomReflectable {
    public var description: String { "photo \(id)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Which picture of a photo.
public enum PictureSize: String, Sendable, Hashable, CaseIterable {
    /// At most 320 pixels on the longer side.
    case small
    /// At most 1280 pixels on the longer side.
    case medium
    /// The photo as it was sent, without its metadata.
    case original
}
