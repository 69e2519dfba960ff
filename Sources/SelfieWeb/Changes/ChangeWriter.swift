import JSON
import SelfieRecords

/// Writes changes for a client.
struct ChangeWriter: Sendable {
    let records: RecordWriter

    /// Writes a change.
    func write(_ change: Change, to json: inout JSONWriter) {
        json.object { json in
            json.member("type", change.kind.rawValue)
            json.member("collection", change.collection)
            json.member("id", change.id)
            switch change.content {
            case .record(let record): json.nested("record") { records.write(record, to: &$0) }
            case .photo(let columns, let series):
                json.nested("photo") { json in
                    json.object { columns.writeJSON(to: &$0, urls: PhotoURLWriter(records.urls(series))) }
                }
            case nil: break
            }
        }
    }
}
