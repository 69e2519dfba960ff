package import Encodings
import OrderedCollections

extension JSONValue {
    /// Whether two values mean the same: members in any order, and numbers in any form.
    ///
    /// - Parameter other: The other value, as deep as a record may be.
    /// - Returns: Whether they do.
    package func isEquivalent(to other: JSONValue) -> Bool {
        switch (self, other) {
        case (.object(let own), .object(let others)):
            own.count == others.count
                && own.allSatisfy { name, value in others[name].map(value.isEquivalent) ?? false }
        case (.array(let own), .array(let others)):
            own.count == others.count && zip(own, others).allSatisfy { $0.isEquivalent(to: $1) }
        case (.number(let own), .number(let others)):
            DecimalNumber(own).canonicalText == DecimalNumber(others).canonicalText
        default: self == other
        }
    }
}
