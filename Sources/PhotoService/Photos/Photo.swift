import HTTPTypes

/// A stored photo, as its owner sees it.
struct Photo: Sendable {
    /// The uploaded file's name, a label only.
    let name: String
    let title: String
    /// Names the photo to clients, and its object in the store.
    let randomID: String

    /// Adds the contract's members of a photo.
    func write(to json: inout JSONWriter, urls: PhotoURLDay) {
        let (name, title, randomID) = (Array(name.utf8), Array(title.utf8), Array(randomID.utf8))
        Self.write(to: &json, name: name[...], title: title[...], randomID: randomID[...], urls: urls)
    }

    /// Adds the contract's members of a photo whose texts are UTF-8.
    static func write(
        to json: inout JSONWriter,
        name: ArraySlice<UInt8>,
        title: ArraySlice<UInt8>,
        randomID: ArraySlice<UInt8>,
        urls: PhotoURLDay
    ) {
        name.withUnsafeBytes { json.member("name", utf8: $0) }
        title.withUnsafeBytes { json.member("title", utf8: $0) }
        randomID.withUnsafeBytes { randomID in
            urls.writeURL(of: randomID, as: "image_url", to: &json)
            json.member("random_id", utf8: randomID)
        }
    }
}

/// A photo to be stored, checked.
struct NewPhoto: Sendable {
    let photo: Photo
    let userID: Int
    let format: PhotoFormat
    let object: SpooledObject

    private static let charactersMax = 255

    /// Checks what a client sent by the contract's rules.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - fileName: The uploaded file's name, of which only what follows the last `/` or `\` is kept.
    ///   - object: The uploaded bytes.
    ///   - userID: Whose photo it is.
    /// - Throws: `ServiceError`: 400 for a rule that is broken, 415 for what is no photo.
    init(title: String, fileName: String, object: SpooledObject, userID: Int) throws(ServiceError) {
        let name = fileName.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last.map { String($0) } ?? ""
        let complaints = Self.complaints(about: title, field: "title") + Self.complaints(about: name, field: "name")
        guard complaints.isEmpty else { throw ServiceError(status: .badRequest, message: complaints.joined()) }
        guard object.length > 0 else {
            throw ServiceError(status: .badRequest, message: "image - can't be blank,")
        }
        guard let format = PhotoFormat(leadingBytes: object.leadingBytes) else {
            throw ServiceError(
                status: .unsupportedMediaType,
                message: "image - is not a JPEG, PNG, GIF, WebP, HEIC or AVIF photo,"
            )
        }
        photo = Photo(name: name, title: title, randomID: RandomIdentifier.makeSecret())
        self.userID = userID
        self.format = format
        self.object = object
    }

    private static func complaints(about text: String, field: String) -> [String] {
        [
            text.unicodeScalars.contains("\0") ? "\(field) - is invalid," : nil,
            text.unicodeScalars.count > charactersMax
                ? "\(field) - is too long (maximum is \(charactersMax) characters)," : nil,
        ].compactMap(\.self)
    }
}
