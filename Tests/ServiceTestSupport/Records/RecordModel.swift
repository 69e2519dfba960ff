/// Who may do what with records, written down once more: in memory, and in other words than the service's.
struct RecordModel {
    struct Name: Hashable {
        let collection: String
        /// The recipient's number for inboxes; nil for other collections.
        let inbox: Int?
        let id: String
    }

    struct Record {
        let owner: Int
        var readers: Set<Int> = []
        var writers: Set<Int> = []
        var value: Int
        var version = 1
        /// When it was created.
        let round: Int
    }

    /// What a client asks for.
    struct Call {
        enum Method: String, CaseIterable {
            case get = "GET"
            case post = "POST"
            case put = "PUT"
            case patch = "PATCH"
            case delete = "DELETE"
        }

        let method: Method
        let name: Name
        let member: Int
        let value: Int
        /// Nil when no member is named.
        let readers: Set<Int>?
        let writers: Set<Int>?
    }

    struct Answer: Equatable {
        var status: Int
        var value: Int?
        var version: Int?
    }

    let team: Set<Int>
    let leads: Set<Int>
    /// Pairs of a blocking and a blocked member.
    let blocks: Set<[Int]>
    private(set) var records: [Name: Record] = [:]
    /// The last versions of records that are deleted.
    private var lastVersions: [Name: Int] = [:]
    /// The first messages in inboxes, by their senders.
    private var sent: [Name: [Int: Int]] = [:]
    private var round = 0

    init(team: Set<Int>, leads: Set<Int>, blocks: Set<[Int]>) {
        self.team = team
        self.leads = leads
        self.blocks = blocks
    }

    /// The ids of a list, the oldest first; nil for a collection that does not exist for the member.
    func list(_ collection: String, of member: Int) -> [(id: String, round: Int)]? {
        if collection == "priorities", !team.contains(member) { return nil }
        return records.filter { $0.key.collection == collection && rights(of: member, $0.key, $0.value).contains("r") }
            .sorted { $0.value.round < $1.value.round }.map { ($0.key.id, $0.value.round) }
    }

    private func rights(of member: Int, _ name: Name, _ record: Record) -> Set<Character> {
        let isOwner = record.owner == member
        switch name.collection {
        case "houses": return isOwner ? ["r", "w", "d"] : []
        case "threads":
            if isOwner { return ["r", "w", "d", "s"] }
            if record.writers.contains(member) { return ["r", "w"] }
            return record.readers.contains(member) ? ["r"] : []
        case "news": return isOwner ? ["r", "w", "d"] : ["r"]
        case "priorities":
            var rights: Set<Character> = []
            if team.contains(member) { rights = isOwner ? ["r", "w", "d"] : ["r", "w"] }
            if leads.contains(member) { rights.insert("d") }
            return rights
        default:
            if name.inbox == member { return ["r", "w", "d"] }
            return isOwner ? ["d"] : []
        }
    }

    /// What a call does and answers.
    mutating func answer(to call: Call, round: Int) -> Answer {
        self.round = round
        let (name, member) = (call.name, call.member)
        if name.collection == "priorities", !team.contains(member), !leads.contains(member) {
            return Answer(status: 404)
        }
        let isSender = name.inbox != nil && name.inbox != member
        if isSender, call.method != .get, let sent = sent[name] {
            return answer(to: call, sentBefore: sent)
        }
        let isBlocked = isSender && blocks.contains([name.inbox ?? -1, member])
        if isBlocked, [.post, .put].contains(call.method) { return Answer(status: 404) }
        if isSender, call.method == .get { return Answer(status: sent[name]?[member] == nil ? 404 : 403) }
        guard let record = records[name] else { return create(call, isSender: isSender) }
        let rights = rights(of: member, name, record)
        switch call.method {
        case .get:
            guard rights.contains("r") else { return Answer(status: rights.isEmpty ? 404 : 403) }
            return Answer(status: 200, value: record.value, version: record.version)
        case .post: return Answer(status: 409)
        case .put, .patch: return change(call, record, rights)
        case .delete where name.collection == "threads" && rights == ["r"]:
            records[name]?.readers.remove(member)
            records[name]?.version += 1
            return Answer(status: 200)
        case .delete:
            guard rights.contains("d") else { return Answer(status: rights.isEmpty ? 404 : 403) }
            delete(name, record)
            return Answer(status: 200)
        }
    }

    private mutating func delete(_ name: Name, _ record: Record) {
        lastVersions[name] = record.version + 1
        records[name] = nil
    }

    /// A sender gets the same answer for a used id, whatever has become of its record.
    private mutating func answer(to call: Call, sentBefore sent: [Int: Int]) -> Answer {
        let own = sent[call.member]
        switch call.method {
        case .get, .post, .put:
            guard call.method == .put, own == call.value else { return Answer(status: 409) }
            return Answer(status: 200, value: own, version: 1)
        case .patch: return Answer(status: own == nil ? 404 : 403)
        case .delete:
            guard own != nil else { return Answer(status: 404) }
            if let record = records[call.name], record.owner == call.member { delete(call.name, record) }
            return Answer(status: 200)
        }
    }

    private mutating func create(_ call: Call, isSender: Bool) -> Answer {
        guard [.post, .put].contains(call.method) else { return Answer(status: 404) }
        if call.name.collection == "priorities", !team.contains(call.member) { return Answer(status: 404) }
        guard namesAreFine(call) else { return Answer(status: 400) }
        var record = Record(owner: call.member, value: call.value, round: round)
        record.readers = (call.readers ?? []).union(call.writers ?? []).subtracting([call.member])
        record.writers = (call.writers ?? []).subtracting([call.member])
        record.version = 1 + (lastVersions[call.name] ?? 0)
        records[call.name] = record
        if call.name.inbox != nil { sent[call.name, default: [:]][call.member] = call.value }
        return Answer(status: 200, value: call.value, version: record.version)
    }

    private mutating func change(_ call: Call, _ record: Record, _ rights: Set<Character>) -> Answer {
        guard rights.contains("w") else { return Answer(status: rights.isEmpty ? 404 : 403) }
        var record = record
        if call.readers != nil || call.writers != nil {
            guard rights.contains("s") else {
                return Answer(status: call.name.collection == "threads" ? 403 : 400)
            }
            guard namesAreFine(call) else { return Answer(status: 400) }
            let writers = (call.writers ?? record.writers).subtracting([record.owner])
            record.readers = (call.readers ?? record.readers).subtracting([record.owner]).union(writers)
            record.writers = writers
        }
        record.value = call.value
        record.version += 1
        records[call.name] = record
        return Answer(status: 200, value: record.value, version: record.version)
    }

    private func namesAreFine(_ call: Call) -> Bool {
        let names = (call.readers ?? []).union(call.writers ?? [])
        if call.name.collection != "threads" { return call.readers == nil && call.writers == nil }
        return names.allSatisfy { !blocks.contains([$0, call.member]) }
    }
}
