import Cryptography

/// The statements that one session keeps prepared.
///
/// A name is derived from its statement. So a session that a pooler shares among clients never runs another statement
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
                withUnsafeBytes(of: parameter.type.rawValue.littleEndian) { hash.update($0) }
            }
            hash.update(Array(query.sql.utf8))
            return "statement_"
                + hash.finalize().prefix(16).map { String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
        }
    }

    private struct Entry {
        let name: String
        var isReady = false
        var lastUse: UInt64
    }

    enum Lookup: Equatable {
        /// Execute it by its name.
        case ready(String)
        /// Prepare it by this name, after the other one, if any, is deallocated.
        case prepare(String, evicting: String?)
        /// It is being prepared, and may be refused: use the text.
        case unprepared
    }

    private let maxCount: Int
    private var entries: [Key: Entry] = [:]
    private var useCount: UInt64 = 0

    init(maxCount: Int) {
        self.maxCount = maxCount
    }

    /// Says how to run a statement, and takes note that it is used.
    mutating func use(_ query: PostgresQuery) -> Lookup {
        let key = Key(query: query)
        useCount += 1
        if let index = entries.index(forKey: key) {
            entries.values[index].lastUse = useCount
            let entry = entries.values[index]
            return entry.isReady ? .ready(entry.name) : .unprepared
        }
        var evicted: String?
        if entries.count >= maxCount {
            guard let oldest = entries.filter(\.value.isReady).min(by: { $0.value.lastUse < $1.value.lastUse }) else {
                return .unprepared
            }
            entries[oldest.key] = nil
            evicted = oldest.value.name
        }
        entries[key] = Entry(name: key.name, lastUse: useCount)
        return .prepare(key.name, evicting: evicted)
    }

    /// The server has prepared a statement.
    mutating func prepared(_ query: PostgresQuery) {
        entries[Key(query: query)]?.isReady = true
    }

    /// The server has refused to prepare a statement.
    mutating func refused(_ query: PostgresQuery) {
        entries[Key(query: query)] = nil
    }

    /// The server does not know a prepared statement any more.
    ///
    /// - Returns: The name under which it was prepared; nil when it is being prepared again already.
    mutating func spoiled(_ query: PostgresQuery) -> String? {
        let key = Key(query: query)
        guard let entry = entries[key], entry.isReady else { return nil }
        entries[key] = nil
        return entry.name
    }
}
