/// What reads bytes that strangers send, and what must hold whatever they are.
///
/// `bin/soak` has libFuzzer look for input that breaks it; `bin/test` runs what is in `Seeds` and some changes of it.
enum FuzzTarget: String, CaseIterable {
    case multipart
    case json
    case form
    case xml
    case authorization
    case range
    case conditions
    case aes
    case image
    case strip
    case heads

    /// Reads an input.
    ///
    /// - Parameter bytes: Any.
    /// - Throws: `FuzzViolation` when something does not hold; worse is a crash.
    func run(_ bytes: [UInt8]) async throws {
        switch self {
        case .multipart: try Self.readMultipart(bytes)
        case .json: try Self.readJSON(bytes)
        case .form: try Self.readForm(bytes)
        case .xml: try Self.readXML(bytes)
        case .authorization: try Self.readAuthorization(bytes)
        case .range: try Self.readRange(bytes)
        case .conditions: try Self.readConditions(bytes)
        case .aes: try Self.decrypt(bytes)
        case .image: try await Self.readImage(bytes)
        case .strip: try await Self.stripImage(bytes)
        case .heads: try Self.readHead(bytes)
        }
    }

    /// Says that something must hold.
    static func require(_ condition: Bool, _ what: String) throws(FuzzViolation) {
        guard condition else { throw FuzzViolation(what: what) }
    }
}

/// Something that must hold for every input did not.
struct FuzzViolation: Error, Equatable {
    let what: String
}
