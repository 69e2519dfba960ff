import Foundation
import SelfieClient

/// The call for an archive of all that a user has.
enum ExportCalls {
    static let routes = [Route("GET", "api/export", .user(export))]

    private static func export(_ state: inout ServiceState, _: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let (user, now) = (try state.user(of: session), state.now)
        var archive = ZipArchive()
        archive.add(try account(user) + Data("\n".utf8), as: "account.json", modified: now)
        let sessions = state.sessions.list(of: user.id, at: now).map { $0.json(isCurrent: false).without(["current"]) }
        archive.add(try list(sessions), as: "sessions.json", modified: now)
        // The service keeps no history.
        archive.add(try list([]), as: "audit.json", modified: now)
        archive.add(try list(records(of: user, &state)), as: "records.json", modified: now)
        var photos: [JSONValue] = []
        let all = state.photos.all.filter { $0.ownerID == user.id }.sorted { $0.number < $1.number }
        for (index, photo) in all.enumerated() {
            let name = fileName(index + 1, of: photo)
            archive.add(photo.bytes, as: name, modified: photo.createdAt)
            let more: [String: JSONValue] = ["file": .string(name), "listed": .bool(photo.isListed)]
            photos.append(.object((photo.json(url: "").members ?? [:]).merging(more) { $1 }).without(["image_url"]))
        }
        archive.add(try list(photos), as: "photos.json", modified: now)
        archive.add(Data(archive.manifest.utf8), as: "manifest.sha256", modified: now)
        let day = JSONCoding.text(of: now).prefix(10)
        let headers = [
            "Content-Type": "application/zip", "Cache-Control": "no-store",
            "Content-Disposition": "attachment; filename=\"selfie-export-\(day).zip\"",
        ]
        return ServiceAnswer(TransportResponse(status: 200, headers: headers, body: archive.data))
    }

    /// The profile, and the members whom the user blocks.
    private static func account(_ user: User) throws -> Data {
        let members: [String: JSONValue] = [
            "title": JSONValue(user.title), "picture_id": JSONValue(user.picture), "fields": .object(user.fields),
            "email_state": user.isVerified ? "verified" : "unverified", "shows_email": .bool(user.showsEmail),
            "created_at": JSONValue(user.createdAt), "blocks": JSONValue(user.blocks),
        ]
        return try JSONCoding.encode(JSONValue.object(user.json.merging(members) { $1 }))
    }

    /// The records that a user owns and may read, by collection and age, without URLs, which end.
    private static func records(of user: User, _ state: inout ServiceState) -> [JSONValue] {
        let owned = state.records.all.filter { record in
            record.ownerID == user.id && state.grants.rights(of: user.id, to: record.key).contains(.read)
        }
        let sorted = owned.sorted { ($0.key.collection, $0.number) < ($1.key.collection, $1.number) }
        return sorted.map { state.json(of: $0, for: user.id).without(["photos"]) }
    }

    /// A JSON array, each element on a line of its own.
    private static func list(_ elements: [JSONValue]) throws -> Data {
        let lines = try elements.map { String(decoding: try JSONCoding.encode($0), as: UTF8.self) }
        return Data((lines.isEmpty ? "[]\n" : "[\n\(lines.joined(separator: ",\n"))\n]\n").utf8)
    }

    private static let maxTitleLength = 60

    /// Such as `photos/0001-My-selfie.jpg`.
    private static func fileName(_ number: Int, of photo: StoredPhoto) -> String {
        let words = photo.title.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        let title = words.joined(separator: "-").prefix(maxTitleLength)
        let ending = photo.format == .jpeg ? "jpg" : photo.format.rawValue
        return "photos/" + String(format: "%04d", number) + (title.isEmpty ? "" : "-\(title)") + ".\(ending)"
    }
}

extension JSONValue {
    /// An object without some of its members.
    fileprivate func without(_ names: Set<String>) -> JSONValue {
        .object((members ?? [:]).filter { !names.contains($0.key) })
    }
}
