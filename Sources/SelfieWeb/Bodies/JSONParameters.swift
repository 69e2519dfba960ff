import Encodings
import NIOCore
import OrderedCollections

/// Reads a JSON body's members as parameters.
///
/// Numbers and booleans are taken as their text. `null`, arrays and objects count as missing, and so do all members of
/// a body that is not an object. The last of several values counts.
enum JSONParameters {
    /// The most members that an object may have.
    static let maxMemberCount = 256

    /// Decodes all members.
    ///
    /// - Parameter body: The JSON text.
    /// - Returns: Values by name.
    /// - Throws: `ServiceError.malformedJSON`, `ServiceError.tooManyParameters`.
    static func parse(_ body: ByteBuffer) throws(ServiceError) -> [String: String] {
        // To Rails, an empty body has no parameters.
        guard body.readableBytes > 0 else { return [:] }
        let value: JSONValue
        do {
            value = try JSONValue.parse(body.readableBytesView)
        } catch {
            throw .malformedJSON
        }
        guard case .object(let members) = value else { return [:] }
        guard members.count <= maxMemberCount else { throw .tooManyParameters }
        return members.reduce(into: [:]) { texts, member in texts[member.key] = text(member.value) }
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text), .number(let text): text
        case .boolean(let boolean): String(boolean)
        case .null, .array, .object: nil
        }
    }
}
