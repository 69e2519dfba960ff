import JSON
import NIOCore
import OrderedCollections

/// Reads a JSON body's members as parameters.
///
/// Numbers and booleans are taken as their text. `null` counts as missing, and so do all members of a body that is not an
/// object. Arrays and objects are only for parameters that are JSON. The last of several values counts.
enum JSONParameters {
    /// The most members that an object may have.
    static let maxMemberCount = 256

    /// Decodes all members.
    ///
    /// - Parameter body: The JSON text.
    /// - Returns: Texts, arrays and objects by name.
    /// - Throws: `ServiceError.malformedJSON`, `.unfitName`, `.tooManyParameters`.
    static func parse(
        _ body: ByteBuffer
    ) throws(ServiceError) -> (texts: [String: String], structures: [String: JSONValue]) {
        // To Rails, an empty body has no parameters.
        guard body.readableBytes > 0 else { return ([:], [:]) }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(body.readableBytesView)
        } catch {
            throw ServiceError(error)
        }
        guard case .object(let members) = value else { return ([:], [:]) }
        guard members.count <= maxMemberCount else { throw .tooManyParameters }
        var (texts, structures): ([String: String], [String: JSONValue]) = ([:], [:])
        for (name, value) in members {
            switch value {
            case .array, .object: structures[name] = value
            default: texts[name] = text(value)
            }
        }
        return (texts, structures)
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text), .number(let text): text
        case .boolean(let boolean): String(boolean)
        case .null, .array, .object: nil
        }
    }
}
