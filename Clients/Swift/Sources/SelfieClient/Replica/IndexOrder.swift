/// A value's place in the order of an index: nothing, `false`, `true`, arrays and objects, numbers, texts and times.
package enum IndexOrder: Sendable, Comparable {
    case nothing
    case no
    case yes
    case composite(String)
    case number(Double)
    case text(String)

    private static let maxTextLength = 128

    package init(_ value: JSONValue?) {
        switch value {
        case nil, .null?: self = .nothing
        case .bool(let value)?: self = value ? .yes : .no
        case .integer(let value)?: self = .number(Double(value))
        case .number(let value)?: self = .number(value)
        case .string(let value)?:
            // Times are ordered as times: they may have fractions of a second, or another zone.
            let time = value.count >= 20 && value.utf8.dropFirst(10).first == UInt8(ascii: "T")
            self = .text(time ? JSONCoding.date(of: value).map(JSONCoding.text) ?? value : value)
        case .array?, .object?:
            self = .composite((try? JSONCoding.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "")
        }
    }

    private var rank: Int {
        switch self {
        case .nothing: 0
        case .no: 1
        case .yes: 2
        case .composite: 3
        case .number: 4
        case .text: 5
        }
    }

    /// Texts are equal when their code points are, as for the service.
    package static func == (first: IndexOrder, second: IndexOrder) -> Bool {
        switch (first, second) {
        case (.number(let first), .number(let second)): first == second
        case (.text(let first), .text(let second)), (.composite(let first), .composite(let second)):
            first.unicodeScalars.elementsEqual(second.unicodeScalars)
        default: first.rank == second.rank
        }
    }

    package static func < (first: IndexOrder, second: IndexOrder) -> Bool {
        switch (first, second) {
        case (.number(let first), .number(let second)): first < second
        case (.text(let first), .text(let second)), (.composite(let first), .composite(let second)):
            first.unicodeScalars.prefix(maxTextLength).lexicographicallyPrecedes(
                second.unicodeScalars.prefix(maxTextLength)
            )
        default: first.rank < second.rank
        }
    }
}

extension JSONValue {
    /// The value of a record that an index has: a field of its data, or one of its own times.
    func indexed(_ field: String) -> JSONValue? {
        self["data"]?[field] ?? (["created_at", "updated_at"].contains(field) ? self[field] : nil)
    }
}

extension RecordFilter {
    /// Whether a record fits, as the service decides it.
    func matches(_ record: JSONValue) -> Bool {
        let value = IndexOrder(record.indexed(field))
        switch condition {
        case .equal(let wanted): return value == IndexOrder(wanted)
        case .oneOf(let wanted): return wanted.contains { value == IndexOrder($0) }
        case .prefix(let beginning):
            guard case .text(let text) = value else { return false }
            return text.unicodeScalars.starts(with: beginning.unicodeScalars)
        case .range(let bounds): return value.isWithin(bounds.mapValues { IndexOrder($0) })
        }
    }
}

extension IndexOrder {
    /// Whether both are nothing, truth values, composites, numbers or texts.
    private func isSameKind(as other: IndexOrder) -> Bool { rank == other.rank }

    /// Whether it lies within bounds of its own kind, by their signs: `>`, `>=`, `<` and `<=`.
    package func isWithin(_ bounds: [String: IndexOrder]) -> Bool {
        bounds.allSatisfy { sign, bound in
            guard isSameKind(as: bound) else { return false }
            return switch sign {
            case ">": bound < self
            case ">=": !(self < bound)
            case "<": self < bound
            default: !(bound < self)
            }
        }
    }
}
