import Encodings
import FoundationEssentials
import JSON
import ObjectStore
import Postgres
import SelfieAccounts
import SelfieRecords

/// What a user has beside photos, as the files of an export.
///
/// Members have the names that they have in answers of the API. URLs are left out, because they expire.
struct ExportedData: Sendable {
    let postgres: PostgresClient
    let spools: SpoolBudget
    let userID: Int

    /// How many events are read with one statement.
    private static let pageCount = 250

    /// The profile, and the members whom the user blocks.
    ///
    /// - Throws: `SessionError.ended` when the account is deleted, `PostgresError`, what writing a file throws.
    func account() async throws -> MeasuredFile {
        guard let profile = try await MemberStore(postgres: postgres).profile(ofUser: userID) else {
            throw SessionError.ended
        }
        let createdAt = try await UserStore(postgres: postgres).creationTime(ofUser: userID)
        let blocks = try await BlockStore(postgres: postgres).members(blockedBy: userID)
        var json = JSONWriter()
        json.object { json in
            let member = profile.member
            json.member("id", member.id)
            json.member("first_name", member.firstName)
            json.member("last_name", member.lastName)
            json.member("title", member.title)
            json.member("picture_id", member.picture?.randomID)
            member.fields.withUnsafeBytes { json.member("fields", json: $0) }
            json.member("email", member.email)
            json.member("email_state", profile.emailState.rawValue)
            json.member("shows_email", profile.showsEmail)
            json.member("created_at", createdAt?.contractText)
            json.member("blocks", texts: blocks)
        }
        var spool = MeasuredSpool(spools, userID: userID)
        try await spool.append(json.buffer)
        try await spool.append("\n")
        return try await spool.finish()
    }

    /// The open sessions, without anything of their tokens.
    ///
    /// - Parameter date: The present.
    /// - Returns: The file.
    /// - Throws: `PostgresError`, what writing a file throws.
    func sessions(at date: Date) async throws -> MeasuredFile {
        var list = ExportedList(spools, userID: userID)
        for session in try await SessionStore(postgres: postgres).list(ofUser: userID, at: date, always: nil) {
            try await list.append { json in
                json.member("id", String(session.id))
                json.member("device", session.device)
                json.member("created_at", session.createdAt.contractText)
                json.member("last_used_at", session.lastUsedAt.contractText)
                json.member("expires_at", session.expiresAt.contractText)
            }
        }
        return try await list.finish()
    }

    /// The history of the account, the oldest event first.
    ///
    /// - Throws: `PostgresError`, what writing a file throws.
    func audit() async throws -> MeasuredFile {
        let store = AuditStore(postgres: postgres)
        var list = ExportedList(spools, userID: userID)
        var last = 0
        while true {
            let page = try await store.history(ofUser: userID, after: last, count: Self.pageCount)
            guard let end = page.last else { return try await list.finish() }
            for event in page {
                try await list.append { json in
                    json.member("id", String(event.id))
                    json.member("happened_at", event.happenedAt.contractText)
                    json.member("event", event.event)
                    json.member("role", event.role)
                    json.member("address", event.address)
                    json.member("request_id", event.requestID)
                    json.member("by_another", event.isByAnother)
                    json.member("to_another", event.isToAnother)
                }
            }
            last = end.id
        }
    }

    /// The records that the user owns.
    ///
    /// - Throws: `PostgresError`, `InvalidSchema`, what writing a file throws.
    func records() async throws -> MeasuredFile {
        var list = ExportedList(spools, userID: userID)
        try await OwnedRecords(postgres: postgres).forEach(ofUser: userID) { record in
            try await list.append { record.writeMembers(to: &$0) }
        }
        return try await list.finish()
    }
}
