package import JSON

extension StoredRecord {
    /// Writes the members that the API and an export have in common: all but the URLs of its photos.
    ///
    /// - Parameter json: Gets the members.
    package func writeMembers(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("collection", collection)
        json.member("data", json: data)
        json.member("owner", owner)
        if let readers { json.member("readers", texts: readers) }
        if let writers { json.member("writers", texts: writers) }
        json.member("version", version)
        json.member("created_at", createdAt)
        json.member("updated_at", updatedAt)
        json.member("expires_at", expiresAt)
    }
}
