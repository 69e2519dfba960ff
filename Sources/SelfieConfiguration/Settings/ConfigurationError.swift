/// Settings that are missing or malformed.
///
/// It never holds a value.
package struct ConfigurationError: Error, CustomStringConvertible {
    package enum InvalidSetting: Equatable {
        case missing(key: String, hint: String?)
        case malformed(key: String, expected: String)
    }

    package let invalidSettings: [InvalidSetting]

    package var description: String {
        let lines = invalidSettings.map { "  \($0)" }
        return (["The settings are missing or malformed. Correct them in the environment or in the file .env:"] + lines)
            .joined(separator: "\n")
    }
}

extension ConfigurationError.InvalidSetting: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let key, nil): "\(key) is missing"
        case .missing(let key, let hint?): "\(key) is missing (\(hint))"
        case .malformed(let key, let expected): "\(key) is malformed: it must be \(expected)"
        }
    }
}
