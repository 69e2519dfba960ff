import Encodings

/// What a user recognises a session by.
package enum DeviceLabel {
    private static let maxCharacters = Complaint.maxCharacters

    /// The label of a session that begins.
    ///
    /// - Parameters:
    ///   - parameter: What the client calls itself; nil or blank to take its `User-Agent`, cut where it is too long.
    ///   - userAgent: The program that the client says it is; nil when it says nothing.
    /// - Returns: The label; nil when there is none.
    /// - Throws: `InvalidInput` about a parameter that is too long or holds control characters.
    package static func of(parameter: String?, userAgent: String?) throws(InvalidInput) -> String? {
        if let parameter = parameter?.trimmingWhitespace(), !parameter.isEmpty {
            guard !parameter.unicodeScalars.contains(where: isControl) else {
                throw InvalidInput(complaints: [Complaint(.device, .invalid)])
            }
            guard parameter.unicodeScalars.count <= maxCharacters else {
                throw InvalidInput(complaints: [Complaint(.device, .tooLong(maxCharacters: maxCharacters))])
            }
            return parameter
        }
        let agent = (userAgent ?? "").trimmingWhitespace().unicodeScalars.filter { !isControl($0) }
        let label = String(String.UnicodeScalarView(agent.prefix(maxCharacters)))
        return label.isEmpty ? nil : label
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
    }
}
