import FoundationEssentials
import Postgres

/// A session and its user's photos, as they came from the database.
struct PhotoList {
    let sessionID: Int
    let expiry: Date
    let rows: PostgresRows

    /// What two lists that differ differ in.
    var contents: [UInt8] { rows.contents }

    /// The contract's array of photos, copied from the rows without a detour over strings.
    func json(urls: PhotoURLDay) throws -> JSONWriter {
        let (names, titles) = (try rows.utf8Column("name"), try rows.utf8Column("title"))
        let randomIDs = try rows.utf8Column("random_id")
        var json = JSONWriter(capacity: rows.contents.count + rows.count * Self.bytesAdded)
        json.array(rows.indices) { json, row in
            // A user without photos is one row without a photo.
            guard let name = names[row], let title = titles[row], let randomID = randomIDs[row] else { return }
            json.object { Photo.write(to: &$0, name: name, title: title, randomID: randomID, urls: urls) }
        }
        return json
    }

    /// About what the members' names, an origin and a signature add to a photo's texts.
    private static let bytesAdded = 256
}
