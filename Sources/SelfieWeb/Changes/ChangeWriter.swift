import FoundationEssentials
import Hummingbird
import JSON
import SelfieAccounts
import SelfieRecords

/// Writes changes for a client.
struct ChangeWriter: Sendable {
    /// Makes the URLs of the day.
    let urls: @Sendable (_ series: Int) -> PhotoURLDay
    let reader: PhotoReader

    /// The writer for the client of a request: URLs have the origin that it asked, and end a day or two from now on.
    init(_ parts: WebParts, for request: Request, of session: Session) {
        let (signer, now, origin) = (parts.photoURLs, parts.now, parts.origin.origin(of: request.head))
        urls = { signer.day(of: now(), origin: origin, series: $0) }
        reader = session.photoReader
    }

    /// Writes a change.
    func write(_ change: Change, to json: inout JSONWriter) {
        json.object { json in
            json.member("type", change.kind.rawValue)
            json.member("collection", change.collection)
            json.member("id", change.id)
            switch change.content {
            case .record(let record):
                json.nested("record") { RecordWriter(urls: urls, reader: reader).write(record, to: &$0) }
            case .photo(let columns, let series):
                json.nested("photo") { json in
                    json.object { columns.writeJSON(to: &$0, urls: PhotoURLWriter(urls(series))) }
                }
            case nil: break
            }
        }
    }
}
