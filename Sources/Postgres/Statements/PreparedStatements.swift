import Crypto

/// The statements that one session keeps prepared.
///
/// A name is made of what it stands for. So a session that a pooler lends to several clients never runs another statement
/// than the one that is meant. Their number is bounded; the least recently used one makes room.
struct PreparedStatements {
    /// What a prepared statement is for: a text and the types of its parameters.
    ///
    /// PostgreSQL infers the type of a NULL.
    private struct Key: Hashable {
        let query: PostgresQuery

        static func == (left: Key, right: Key) -> Bool {
            left.query.sql == right.query.sql
                && left.query.parameters.elementsEqual(right.query.parameters) { $0.type == $1.type }
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(query.sql)
        }

        /// Letters and digits, fewer than the 63 bytes that PostgreSQL looks at.
        var name: String {
            var hash = SHA256()
            for parameter in query.parameters {
                withUnsafeBytes(of: parameter.type.rawValue.littleEndian) { hash.update(bufferPointer: $0) }
            }
            hash.update(data: Array(query.sql.utf8))
            return "statement_"
                + hash.finalize().prefix(16).map { String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
        }
    }

    private struct Entry {
        enum State {
            /// The server does not have it, or not yet.
            case missing
            case ready
            /// The server has it, and its result was of other columns.
            case spoiled
        }

        let name: String
        var state = State.missing
        var lastUse: UInt64
    }

    enum Lookup: Equatable {
        /// Execute it by its name.
        case ready(String)
        /// Prepare it by this name, after the other one, if any, is deallocated.
        case prepare(String, evicting: String?)
        /// None is kept: use the text.
        case unprepared
    }

    private let maxCount: Int
    private var entries: [Key: Entry] = [:]
    private var useCount: UInt64 = 0

    init(maxCount: Int) {
        self.maxCount = maxCount
    }

    /// Decides how to run a statement, and notes that it is used.
    mutating func use(_ query: PostgresQuery) -> Lookup {
        guard maxCount > 0 else { return .unprepared }
        let key = Key(query: query)
        useCount += 1
        var evicted: String?
        if let entry = entries[key] {
            entries[key]?.lastUse = useCount
            if entry.state == .ready { return .ready(entry.name) }
            if entry.state == .spoiled { evicted = entry.name }
        } else {
            if entries.count >= maxCount { evicted = entries.values.min { $0.lastUse < $1.lastUse }?.name }
            entries[key] = Entry(name: key.name, lastUse: useCount)
        }
        return .prepare(key.name, evicting: evicted)
    }

    /// The server has prepared a statement.
    mutating func prepared(_ query: PostgresQuery) {
        entries[Key(query: query)]?.state = .ready
    }

    /// The server has refused to prepare a statement.
    mutating func refused(_ query: PostgresQuery) {
        entries[Key(query: query)] = nil
    }

    /// The server has forgotten a statement.
    mutating func deallocated(_ name: String) {
        guard let (key, entry) = entries.first(where: { $0.value.name == name }) else { return }
        if entry.state == .spoiled { entries[key]?.state = .missing } else { entries[key] = nil }
    }

    /// The server refuses to execute a prepared statement, because a table has changed.
    mutating func spoiled(_ query: PostgresQuery) {
        entries[Key(query: query)]?.state = .spoiled
    }
}
