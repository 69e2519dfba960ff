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
public protocol RecordFields: Codable, Sendable {
    /// The collection's name in the schema.
    static var collection: String { get }
}
