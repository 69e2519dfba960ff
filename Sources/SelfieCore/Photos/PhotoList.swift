package import FoundationEssentials
import Postgres

/// A session and its user's photos, as the database sent them.
package struct PhotoList {
    let sessionID: Int
    package let expiry: Date
    let rows: PostgresRows

    /// Bytes that differ between any two different lists.
    package var contents: [UInt8] { rows.contents }

    /// An upper limit of the number of photos.
    ///
    /// A user without photos has one row without a photo.
    package var maxPhotoCount: Int { rows.count }

    /// Goes through the photos, oldest first.
    ///
    /// - Parameter body: Takes a photo's texts, as UTF-8.
    /// - Throws: `PostgresError`.
    package func forEachPhoto(
        _ body: (_ name: ArraySlice<UInt8>, _ title: ArraySlice<UInt8>, _ randomID: ArraySlice<UInt8>) -> Void
    ) throws {
        let (names, titles) = (try rows.utf8Column("name"), try rows.utf8Column("title"))
        let randomIDs = try rows.utf8Column("random_id")
        for row in rows.indices {
            guard let name = names[row], let title = titles[row], let randomID = randomIDs[row] else { continue }
            body(name, title, randomID)
        }
    }
}
