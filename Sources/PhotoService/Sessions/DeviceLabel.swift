import HTTPTypes

/// What a user recognises a session by.
enum DeviceLabel {
    private static let charactersMax = 255

    /// The label of a session that begins.
    ///
    /// - Parameters:
    ///   - parameter: What the client calls itself; nil or blank to take its `User-Agent`, cut where it is too long.
    ///   - headers: The request's.
    /// - Returns: The label; nil when there is none.
    /// - Throws: `ServiceError` with status 400 about a parameter that is too long or holds control characters.
    static func of(parameter: String?, headers: HTTPFields) throws(ServiceError) -> String? {
        if let parameter = parameter?.trimmingWhitespace(), !parameter.isEmpty {
            guard !parameter.unicodeScalars.contains(where: isControl) else {
                throw ServiceError(status: .badRequest, message: "device - is invalid,")
            }
            guard parameter.unicodeScalars.count <= charactersMax else {
                throw ServiceError(
                    status: .badRequest,
                    message: "device - is too long (maximum is \(charactersMax) characters),"
                )
            }
            return parameter
        }
        let agent = (headers[.userAgent] ?? "").trimmingWhitespace().unicodeScalars.filter { !isControl($0) }
        let label = String(String.UnicodeScalarView(agent.prefix(charactersMax)))
        return label.isEmpty ? nil : label
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
    }
}
