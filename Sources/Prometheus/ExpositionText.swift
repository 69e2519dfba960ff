/// Names, labels and numbers as the text format has them.
enum ExpositionText {
    /// A metric's name: letters, digits, `_` and `:`, and no digit first.
    static func name(_ label: String, suffix: String) -> String {
        let name = identifier(label)
        return name.hasSuffix(suffix) ? name : name + suffix
    }

    /// Labels in the order of their names, such as `endpoint="/",method="GET"`.
    static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.sorted { $0.0 < $1.0 }.map { "\(identifier($0.0))=\"\(escapedLabel($0.1))\"" }
            .joined(separator: ",")
    }

    /// A number without a needless fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return Int64(exactly: value).map { String($0) } ?? String(value)
    }

    static func escapedHelp(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    private static func escapedLabel(_ text: String) -> String {
        escapedHelp(text).replacing("\"", with: "\\\"")
    }

    private static func identifier(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Character in
            let isAllowed = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            return isAllowed || scalar == "_" ? Character(scalar) : "_"
        }
        return scalars.first?.isNumber == true ? "_" + String(scalars) : String(scalars)
    }
}
