import Foundation
import NIOCore
import NIOFoundationCompat

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
    /// - Throws: `ServiceError.malformedJSON`.
    static func parse(_ body: ByteBuffer) throws(ServiceError) -> [String: String] {
        // To Rails, an empty body has no parameters.
        guard body.readableBytes > 0 else { return [:] }
        guard
            let value = try? JSONSerialization.jsonObject(with: Data(buffer: body), options: .fragmentsAllowed)
        else { throw .malformedJSON }
        guard let members = value as? [String: Any] else { return [:] }
        guard members.count <= maxMemberCount else { throw .tooManyParameters }
        return members.compactMapValues(text)
    }

    private static func text(_ value: Any) -> String? {
        switch value {
        case let string as String: string
        // Foundation reads the numbers 0 and 1 as booleans, too, so the number's own type decides.
        case let number as NSNumber where String(cString: number.objCType) == "c": String(number.boolValue)
        case let number as NSNumber: number.stringValue
        default: nil
        }
    }
}
