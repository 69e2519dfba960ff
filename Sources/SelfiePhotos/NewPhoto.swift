import Cryptography
import Encodings
import ImageFiles
import JSON
package import ObjectStore
import S3
import SelfieAccounts

/// A photo to be stored, checked.
package struct NewPhoto: Sendable {
    /// The uploaded file's name, a label only.
    let name: String
    let title: String
    /// The photo's id for clients, and the key of its object in the store.
    let randomID: String
    let userID: Int
    let image: ImageFile
    let object: SpooledObject
    /// Whether the object is without metadata.
    let isStripped: Bool
    /// Whether it is in its owner's list.
    let isListed: Bool
    let key: UploadKey?
    /// The SHA-256 of what makes two uploads with a key the same: the bytes as sent, the title, and whether the photo is listed.
    ///
    /// The file's name may differ, since many clients make up a new one for each request.
    let digest: [UInt8]?

    /// Checks what a client sent by the contract's rules.
    ///
    /// - Parameters:
    ///   - title: The title, which may have several lines.
    ///   - fileName: The uploaded file's name. Only the part after the last `/` or `\` is stored, on one line.
    ///   - object: The uploaded bytes.
    ///   - userID: The owner's id.
    ///   - isListed: Whether it is in its owner's list. An unlisted photo is deleted when nothing refers to it.
    ///   - key: The client's key for this upload.
    ///   - metadata: Whether metadata is removed.
    /// - Throws: `InvalidInput`, `PhotoError.unknownFormat`, or what reading the bytes throws.
    package init(
        title: String,
        fileName: String,
        object: SpooledObject,
        userID: Int,
        isListed: Bool = true,
        key: UploadKey? = nil,
        metadata: PhotoMetadata = .strip
    ) async throws {
        let name = fileName.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last.map { String($0).onOneLine() } ?? ""
        let validationErrors =
            ValidationError.all(of: title, .title, mayHaveLines: true) + ValidationError.all(of: name, .fileName)
        guard validationErrors.isEmpty else { throw InvalidInput(validationErrors: validationErrors) }
        guard object.length > 0 else { throw InvalidInput(validationErrors: [ValidationError(.image, .blank)]) }
        guard let image = try await object.image(),
            let stored = metadata == .keep ? object : try await object.withoutMetadata()
        else { throw PhotoError.unknownFormat }
        self.name = name
        self.title = title
        randomID = RandomIdentifier.makeSecret()
        self.userID = userID
        self.image = image
        self.object = stored
        isStripped = metadata == .strip
        self.isListed = isListed
        self.key = key
        digest = key == nil ? nil : try await Self.digest(of: object, title: title, isListed: isListed)
    }

    private static func digest(of object: SpooledObject, title: String, isListed: Bool) async throws -> [UInt8] {
        let bytes = try await object.digests().sha256Hex
        return Array(SHA256.hash("\(bytes) \(isListed) \(title)".utf8))
    }
}
