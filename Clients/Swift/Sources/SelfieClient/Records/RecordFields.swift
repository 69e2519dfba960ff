/// The data of a record of one collection.
///
/// The names of its properties are the fields of the collection's schema, or `CodingKeys` say what they are. A field that a
/// record may lack is optional.
///
///     struct Message: RecordFields {
///         static let collection = "messages"
///         var threadId: String
///         var text: String
///     }
///
/// Numbers are sent as a ``JSONValue`` has them. Every `Int64` and every `Double` arrives as it is. A `UInt64` beyond
/// `Int64.max` and a `Decimal` of more than 15 digits lose digits: make such a field a text.
public protocol RecordFields: Codable, Sendable {
    /// The collection's name in the schema.
    static var collection: String { get }
}
