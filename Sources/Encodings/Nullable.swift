/// Writes nil as `null` in JSON instead of leaving it out, so that all objects have one shape.
@propertyWrapper
package struct Nullable<Value: Encodable & Sendable>: Sendable, Encodable {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}
