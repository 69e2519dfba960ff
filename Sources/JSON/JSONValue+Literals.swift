package import OrderedCollections

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) {
        self = .string(value)
    }

    package init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }

    package init(integerLiteral value: Int) {
        self = .number(String(value))
    }

    package init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// Of members with the same name, the last counts.
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(OrderedDictionary(members) { $1 })
    }

    /// A number.
    package init(_ number: Int) {
        self = .number(String(number))
    }

    /// An array of texts.
    package init(_ texts: [String]) {
        self = .array(texts.map { .string($0) })
    }

    /// The object with more members at its end.
    ///
    /// Of members with the same name, the other's counts. Values of other kinds stay as they are.
    package func with(_ other: OrderedDictionary<String, JSONValue>) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.merging(other) { $1 })
    }
}
