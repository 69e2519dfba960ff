import Encodings

/// The label by which a user recognises a session.
package enum DeviceLabel {
    private static let maxCharacters = Complaint.maxCharacters

    /// Makes the label of a new session.
    ///
    /// - Parameters:
    ///   - parameter: The client's own label. If it is nil or blank, the `User-Agent` is used, cut if it is too long.
    ///   - userAgent: The client's `User-Agent`; nil when there is none.
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
