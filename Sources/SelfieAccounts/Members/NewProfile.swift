package import JSON

/// The profile of a new account, beside the name, as a client sent it.
package struct NewProfile: Sendable {
    let title: String
    let fields: JSONValue

    /// - Parameters:
    ///   - title: The title; nil for none.
    ///   - fields: The free fields, which are to be an object; nil for none.
    package init(title: String? = nil, fields: JSONValue? = nil) {
        self.title = title ?? ""
        self.fields = fields ?? [:]
    }
}
