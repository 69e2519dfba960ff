import Encodings
import SelfieCore

extension Photo {
    /// Adds the contract's members of a photo.
    func write(to json: inout JSONWriter, urls: PhotoURLDay) {
        let (name, title, randomID) = (Array(name.utf8), Array(title.utf8), Array(randomID.utf8))
        Self.write(to: &json, name: name[...], title: title[...], randomID: randomID[...], urls: urls)
    }

    /// Adds the contract's members of a photo whose texts are UTF-8.
    fileprivate static func write(
        to json: inout JSONWriter,
        name: ArraySlice<UInt8>,
        title: ArraySlice<UInt8>,
        randomID: ArraySlice<UInt8>,
        urls: PhotoURLDay
    ) {
        name.withUnsafeBytes { json.member("name", utf8: $0) }
        title.withUnsafeBytes { json.member("title", utf8: $0) }
        randomID.withUnsafeBytes { randomID in
            json.member("image_url") { urls.appendURL(of: randomID, to: &$0) }
            json.member("random_id", utf8: randomID)
        }
    }
}

extension PhotoList {
    /// The contract's array of photos, copied from the rows without making strings.
    func json(urls: PhotoURLDay) throws -> JSONWriter {
        var json = JSONWriter(capacity: contents.count + maxPhotoCount * Self.bytesAdded)
        try json.array { json in
            try forEachPhoto { name, title, randomID in
                json.object { Photo.write(to: &$0, name: name, title: title, randomID: randomID, urls: urls) }
            }
        }
        return json
    }

    /// About how many bytes the members' names, an origin and a signature add to a photo's texts.
    private static let bytesAdded = 256
}
