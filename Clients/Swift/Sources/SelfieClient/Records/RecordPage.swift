/// A page of a list of records.
public struct RecordPage<Fields: RecordFields>: Sendable {
    public let records: [Record<Fields>]
    /// What to send as `after` for the next page; nil behind the last.
    public let next: String?
    /// Whether the service looked at as many records as it may.
    ///
    /// There may be more, even behind an empty page.
    public let isLimited: Bool
    private let included: [JSONValue]

    /// A record that the page's records refer to, if it was included and the user may see it.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - type: What its collection holds.
    /// - Returns: The record; nil if it is not there.
    public func included<Other: RecordFields>(_ id: String, as type: Other.Type = Other.self) -> Record<Other>? {
        let path = ["records", Other.collection, id]
        return included.first { $0["id"]?.text == id && $0["collection"]?.text == Other.collection }
            .flatMap { try? JSONCoding.decode(RecordAnswer<Other>.self, from: JSONCoding.encode($0)) }
            .map { Record($0, path: path) }
    }

    init(_ answer: RecordPageAnswer<Fields>, path: [String]) {
        records = answer.records.map { Record($0, path: path + [$0.id]) }
        (next, isLimited, included) = (answer.next, answer.limited ?? false, answer.included ?? [])
    }
}

struct RecordPageAnswer<Fields: RecordFields>: Decodable {
    let records: [RecordAnswer<Fields>]
    let next: String?
    let limited: Bool?
    let included: [JSONValue]?
}

struct RecordCountAnswer: Decodable {
    let count: Int
    private let limited: Bool?

    /// Whether there are more: the service counts 10,000 at most.
    var isLimited: Bool { limited ?? false }

    private enum CodingKeys: String, CodingKey {
        case count
        case limited = "count_limited"
    }
}
