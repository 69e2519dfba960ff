import Encodings
import FoundationEssentials
import Hummingbird
import JSON
import OrderedCollections
import SelfieAccounts
import SelfieRecords

/// Writes records for clients.
struct RecordWriter: Sendable {
    /// Makes the URLs of the day.
    let urls: @Sendable (_ series: Int) -> PhotoURLDay
    /// URLs of photos are for this reader alone.
    private let reader: PhotoReader

    /// The writer for the client of a request: URLs have the origin that it asked, and end a day or two from now on.
    init(_ parts: WebParts, for request: Request, of session: Session) {
        let (signer, now, origin) = (parts.photoURLs, parts.now, parts.origin.origin(of: request.head))
        urls = { signer.day(of: now(), origin: origin, series: $0) }
        reader = session.photoReader
    }

    /// Writes a record.
    func write(_ record: StoredRecord, to json: inout JSONWriter) {
        json.object { json in writeMembers(of: record, to: &json) }
    }

    /// Writes the members of a record.
    func writeMembers(of record: StoredRecord, to json: inout JSONWriter) {
        record.writeMembers(to: &json)
        json.member("photos", .object(photos(of: record)))
    }

    private func photos(of record: StoredRecord) -> OrderedDictionary<String, JSONValue> {
        let scope = PhotoScope(.record(collection: record.collection, id: record.id), to: reader)
        return record.photos.reduce(into: [:]) { photos, photo in
            let url = JSONValue.string(urls(photo.urlSeries).scoped(scope).url(of: photo.randomID))
            photos[photo.field] =
                photo.isElement ? (photos[photo.field] ?? [:]).with([photo.randomID: url]) : url
        }
    }
}

extension PhotoURLDay {
    /// The URL of a photo.
    func url(of randomID: String) -> String {
        var text = TextBuffer(capacity: 256)
        var id = randomID
        id.withUTF8 { PhotoURLWriter(self).appendURL(of: UnsafeRawBufferPointer($0), to: &text) }
        return text.string
    }
}
