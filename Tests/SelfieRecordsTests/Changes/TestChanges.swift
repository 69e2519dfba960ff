import FoundationEssentials
import RecordSchema

@testable import SelfieRecords

extension Change {
    /// A record that stream 1 shows since a number.
    static func note(
        _ id: String,
        number: Int,
        shownSince: Int = 1,
        bytes: Int = 2,
        expiresAt: String? = nil
    ) -> Change {
        let record = StoredRecord(
            id: id,
            collection: "notes",
            data: String(repeating: " ", count: bytes),
            owner: "",
            readers: nil,
            writers: nil,
            version: 1,
            createdAt: "",
            updatedAt: "",
            expiresAt: expiresAt,
            photos: []
        )
        return Change(
            collection: "notes",
            id: id,
            content: .record(record),
            position: (1, number),
            shownNumber: shownSince,
            isDeleted: false
        )
    }

    /// A record that stream 1 does not show any more.
    static func ended(_ id: String, number: Int, isDeleted: Bool = true) -> Change {
        Change(collection: "notes", id: id, content: nil, position: (1, number), shownNumber: nil, isDeleted: isDeleted)
    }

    var summary: String { "\(kind) \(id)" }
}

extension ChangeEpoch {
    static let first = ChangeEpoch(database: 1, postgresStart: 1, schemaVersion: 1, clearedVersion: 0)
    /// After another start of PostgreSQL.
    static let second = ChangeEpoch(database: 1, postgresStart: 2, schemaVersion: 1, clearedVersion: 0)
}

extension StreamEnd {
    static func at(_ number: Int) -> StreamEnd { StreamEnd(number: number, postgresStart: 1) }
}

extension ChangeBatch {
    /// A reader's position at the ends of streams.
    static func at(
        _ numbers: [Int: Int],
        in epoch: ChangeEpoch = .first,
        roleStreams: Set<Int> = []
    ) -> ChangeBatch {
        var cursor = ChangeCursor(epoch: epoch, filter: nil)
        for (stream, number) in numbers { cursor.move(stream, to: number, end: .at(number)) }
        return ChangeBatch(
            changes: [],
            from: cursor,
            to: cursor,
            hasMore: false,
            access: Access(roleStreams: roleStreams, shownElsewhere: [:], sessionExpiry: nil)
        )
    }
}
