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

/// Makes the writers of requests.
struct ChangeWriters: Sendable {
    let photoURLs: PhotoURLSigner
    let origin: PublicOrigin
    let now: @Sendable () -> Date

    /// The writer for the client of a request: URLs have the origin that it asked, and end a day or two from now on.
    func writer(for request: Request, of session: Session) -> ChangeWriter {
        let origin = origin.origin(of: request.head)
        return ChangeWriter(
            urls: { [photoURLs, now] series in photoURLs.day(of: now(), origin: origin, series: series) },
            reader: session.photoReader
        )
    }
}
