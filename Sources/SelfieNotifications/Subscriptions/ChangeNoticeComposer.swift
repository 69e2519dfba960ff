package import Deliveries
import FoundationEssentials
package import Postgres
package import SelfieAccounts
import SelfieRecords

/// Composes mails of subscriptions from what their receivers may see when they are sent.
package struct ChangeNoticeComposer: Sendable {
    private let postgres: PostgresClient
    private let sendsContents: Bool

    /// - Parameters:
    ///   - postgres: The database.
    ///   - sendsContents: Whether fields of records may leave the service.
    package init(postgres: PostgresClient, sendsContents: Bool) {
        (self.postgres, self.sendsContents) = (postgres, sendsContents)
    }

    /// The cause of a mail, as ``ChangeNotices`` writes it.
    private struct Cause: Decodable {
        let user: Int
        let collection: Int
        let changes: [Change]
        /// Whether there were more changes than a mail names.
        let more: Bool?

        struct Change: Decodable {
            let stream: Int
            let key: Int
            /// The subscription.
            let of: Int
            let kind: ChangeKind
        }
    }

    /// Composes a mail.
    ///
    /// - Parameter delivery: As it was claimed.
    /// - Returns: The mail; nil when its user may not be told of any of it, has ended all of the subscriptions, or has no address
    ///   that is verified.
    /// - Throws: `PostgresError`.
    package func callAsFunction(_ delivery: Delivery) async throws -> ChangeNotice? {
        guard let cause = try? JSONDecoder().decode(Cause.self, from: Data(delivery.cause.utf8)) else { return nil }
        let rows = try await postgres.read(
            """
            SELECT email, subscriptions.id, alert FROM users JOIN subscriptions ON user_id = users.id
            WHERE users.id = \(cause.user) AND disabled_at IS NULL AND email_verified_at IS NOT NULL
                AND email_refused_at IS NULL AND subscriptions.id = ANY(\(cause.changes.map(\.of))) AND channel = 'mail'
            """
        )
        guard let email: String = try rows.first?.decode("email") else { return nil }
        var alerts: [Int: PushText?] = [:]
        for row in rows { alerts[try row.decode("id")] = .some(try row.decodeIfPresent("alert").map(PushText.init)) }
        let told = try await ToldChange.read(
            Array(Set(cause.changes.map { row(of: $0, cause) })),
            ofUser: cause.user,
            withData: sendsContents && alerts.values.contains { $0?.hasPlaceholders == true },
            postgres
        )
        var lines: [String] = []
        for change in Self.ordered(cause.changes) {
            guard let alert = alerts[change.of], let found = told[row(of: change, cause)] else { continue }
            guard found.isReadable || change.kind == .deleted else { continue }
            let text = alert.flatMap { $0.filled(with: found.values(sendsContents)) }
            lines.append("- \(found.id) was \(change.kind.rawValue)\(text.map { ": \($0)" } ?? "")")
        }
        guard !lines.isEmpty, let collection = told.values.first?.collection else { return nil }
        if cause.more == true { lines.append("- There may be more.") }
        return ChangeNotice(
            userID: cause.user,
            email: email,
            collection: collection,
            changes: lines.joined(separator: "\n")
        )
    }

    /// The changes of a record one after another, in the order in which they can happen: they may have been gathered in another one.
    private static func ordered(_ changes: [Cause.Change]) -> [Cause.Change] {
        let places = Dictionary(changes.enumerated().map { ($1.key, $0) }) { first, _ in first }
        return changes.sorted { (places[$0.key] ?? 0, $0.kind.order) < (places[$1.key] ?? 0, $1.kind.order) }
    }

    private func row(of change: Cause.Change, _ cause: Cause) -> ToldChange.Row {
        ToldChange.Row(stream: change.stream, collection: cause.collection, key: change.key)
    }
}

extension ChangeKind {
    fileprivate var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
