import JSON
import OrderedCollections
package import SelfieWeb

extension Endpoint {
    /// The names that the members of its JSON body may have, of one element where the body may be an array.
    package var bodyMembers: [String] { Self.members(of: body?.schema) }

    private static func members(of schema: JSONValue?) -> [String] {
        if case .array(let choices)? = schema?["anyOf"] { return members(of: choices.first) }
        if let element = schema?["items"] { return members(of: element) }
        return schema?["properties"]?.members?.keys.map(\.self) ?? []
    }
}
