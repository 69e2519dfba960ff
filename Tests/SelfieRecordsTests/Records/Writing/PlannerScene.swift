import Encodings
import JSON
import RecordSchema
import Testing

@testable import SelfieRecords

/// Members, a schema and records for the tests of what is decided about records.
///
/// Member 1 is Ada, 2 Bob, 3 Cleo, 4 Dan. The stream of member `n` has the id `n`. The team's stream is 21, the leads' 22,
/// and those of the collections begin at 101.
struct PlannerScene {
    static let names = ["ada", "bob", "cleo", "dan"]
    static let (ada, bob, cleo, dan) = (1, 2, 3, 4)
    static let (team, leads) = (21, 22)

    let schema: AppliedSchema
    var records: [RecordName: ExistingRecord] = [:]
    var deletedMessages: [String: SentRecord] = [:]
    var blocking: Set<Int> = []
    var disabled: Set<Int> = []
    /// The ids of the roles that the author has.
    var roleIDs: Set<Int> = []
    var inboxOf: Int?

    static let text = """
        {"roles": {"leads": {"manages": ["team"]}, "team": {}}, "collections": {
            "houses": {"access": "private", "indexes": ["address"], "fields": {
                "address": {"type": "string"}, "photo": {"type": "photo"}, "near": {"type": "reference", "to": "houses"}
            }},
            "threads": {"access": "acl", "open": true, "fields": {"last": {"type": "reference", "to": "messages"}}},
            "messages": {"access": "acl", "parent": {"field": "thread", "set": "last"}, "fields": {
                "thread": {"type": "reference", "to": "threads"}, "text": {"type": "string"}
            }},
            "inbox": {"access": "inbox"},
            "bugs": {"access": "shared", "role": "team"},
            "news": {"access": "published"}
        }}
        """

    init() throws {
        let schema = try Schema(file: Array(Self.text.utf8))
        self.schema = AppliedSchema(
            version: 1,
            schema: schema,
            collectionIDs: Dictionary(
                uniqueKeysWithValues: schema.collections.enumerated().map { position, collection in
                    (collection.name, AppliedSchema.PartID(id: position + 1, streamID: position + 101))
                }
            ),
            roleIDs: ["team": .init(id: 11, streamID: Self.team), "leads": .init(id: 12, streamID: Self.leads)]
        )
    }

    func collection(_ name: String) throws -> AppliedCollection { try schema.collection(name) }

    static func member(_ number: Int) -> MemberStream {
        MemberStream(userID: number, id: names[number - 1], streamID: number)
    }

    /// Adds a record that gives streams rights, each of which has seen it at number 5, first at 3.
    @discardableResult
    mutating func add(
        _ collection: String,
        _ id: String = "r",
        owner: Int = ada,
        inboxOf: Int? = nil,
        data: String = "{}",
        sent: ExistingRecord.Sent? = nil,
        expiresAt: Timestamp? = nil,
        rights: [Int: Rights]
    ) throws -> ExistingRecord {
        let name = RecordName(collectionID: try self.collection(collection).id, recipientID: inboxOf, id: id)
        let record = ExistingRecord(
            key: records.count + 1,
            name: name,
            owner: Self.member(owner),
            recipientStream: inboxOf,
            data: data,
            byteCount: data.utf8.count,
            sent: sent,
            version: 7,
            createdAt: try #require(Timestamp("2026-11-24T10:00:00Z")),
            updatedAt: try #require(Timestamp("2026-11-24T11:00:00Z")),
            expiresAt: expiresAt,
            isExpired: false,
            grants: Dictionary(
                uniqueKeysWithValues: rights.map { stream, rights in
                    let reads = rights.contains(.read)
                    let memberID = stream <= Self.names.count ? Self.names[stream - 1] : nil
                    return (
                        stream,
                        RecordGrant(
                            rights: rights,
                            number: reads ? 5 : nil,
                            shownNumber: reads ? 3 : nil,
                            memberID: memberID
                        )
                    )
                }
            )
        )
        records[name] = record
        return record
    }

    func author(_ number: Int) -> RecordAuthor {
        RecordAuthor(
            member: Self.member(number),
            roleIDs: roleIDs,
            naming: (1...Self.names.count).map { number in
                RecordAuthor.Named(
                    member: Self.member(number),
                    isDisabled: disabled.contains(number),
                    isBlocking: blocking.contains(number)
                )
            },
            now: Timestamp(milliseconds: 1_795_514_400_000)
        )
    }

    func planner(_ collection: String, by number: Int) throws -> RecordPlanner {
        RecordPlanner(
            schema: schema,
            collection: try self.collection(collection),
            snapshot: RecordSnapshot(
                author: author(number),
                recipient: collection == "inbox" ? Self.member(inboxOf ?? number) : nil,
                records: records,
                deletedMessages: deletedMessages
            )
        )
    }

    func prepared(_ operation: RecordOperation, _ collection: String, at position: Int = 0) throws -> PreparedOperation
    {
        PreparedOperation(operation, at: position, in: try self.collection(collection), schema) { data, id in
            "\(id) \(data.text)"
        }
    }

    /// What a member's operation becomes.
    func outcome(
        _ action: RecordOperation.Action,
        _ collection: String,
        _ id: String? = "r",
        by number: Int,
        data: String? = nil,
        readers: [String]? = nil,
        writers: [String]? = nil,
        expiry: RecordOperation.Expiry = .unchanged,
        condition: RecordOperation.Condition = .none
    ) throws -> RecordPlanner.Outcome {
        let operation = RecordOperation(
            action,
            id: id,
            data: data ?? (action == .create || action == .put ? "{}" : nil),
            readers: readers,
            writers: writers,
            expiry: expiry,
            condition: condition
        )
        return try planner(collection, by: number).outcome(of: try prepared(operation, collection))
    }

    /// The draft that a member's operation becomes.
    func draft(
        _ action: RecordOperation.Action,
        _ collection: String,
        _ id: String? = "r",
        by number: Int,
        data: String? = nil,
        readers: [String]? = nil,
        writers: [String]? = nil,
        expiry: RecordOperation.Expiry = .unchanged
    ) throws -> RecordDraft {
        let outcome = try outcome(
            action,
            collection,
            id,
            by: number,
            data: data,
            readers: readers,
            writers: writers,
            expiry: expiry
        )
        guard case .draft(let draft) = outcome else { throw RecordRefusal(.noRecord) }
        return draft
    }

    /// Why an operation is refused; nil when it is not.
    func refusal(_ body: () throws -> Void) throws -> RecordRefusal.Reason? {
        do {
            try body()
            return nil
        } catch let refusal as RecordRefusal {
            return refusal.reason
        }
    }
}

extension RecordDraft {
    /// The rights of streams from now on, without those that have none.
    var rights: [Int: Rights] {
        Dictionary(uniqueKeysWithValues: grants.map { ($0.stream, $0.rights) }).filter { !$0.value.isEmpty }
    }
}
