import JSON
import OrderedCollections
import SelfieConfiguration

extension Endpoint.Parameter {
    /// The values that it may have, as JSON Schema.
    ///
    /// Source: "JSON Schema: A Media Type for Describing JSON Documents", draft 2020-12, which OpenAPI 3.1 takes over.
    func schema(_ settings: ServiceConfiguration) -> JSONValue {
        switch kind {
        case .text(maxCharacters: nil), .signature: ["type": "string"]
        case .text(let max?) where mustNotBeBlank:
            ["type": "string", "minLength": 1, "maxLength": JSONValue(max), "pattern": .string(Pattern.notBlank)]
        case .text(let max?):
            ["type": "string", "maxLength": JSONValue(max), "not": Pattern.controlButSpace]
        case .lines(let max):
            ["type": "string", "maxLength": JSONValue(max), "not": Pattern.controlButLineEnd]
        case .line(let max):
            ["type": "string", "maxLength": JSONValue(max), "not": Pattern.control]
        case .email(let max):
            ["type": "string", "maxLength": JSONValue(max), "pattern": .string(Pattern.email)]
        case .encryptedPassword:
            ["type": "string", "format": .string(Self.ciphertextFormat)]
        case .encryptedNewPassword(let minCharacters, let maxBytes):
            [
                "type": "string", "format": .string(Self.newPasswordFormat), "contentEncoding": "base64",
                // 16 bytes, and as many as the longest password takes with its padding.
                "minLength": 22,
                "$comment": """
                The password itself has \(minCharacters) characters to \
                \(maxBytes) bytes, without NUL.
                """,
            ]
        case .code: ["type": "string", "format": "password"]
        case .typedPassword: ["type": "string", "format": "password"]
        case .typedNewPassword(let minCharacters, let maxBytes):
            [
                "type": "string", "format": .string(Self.typedNewPasswordFormat), "minLength": JSONValue(minCharacters),
                "maxLength": JSONValue(maxBytes), "pattern": #"^[^\u0000]*$"#,
                "$comment": "At most \(maxBytes) bytes of UTF-8.",
            ]
        case .flag: ["type": "string", "enum": ["true", "false", "yes", "no", "on", "off", "1", "0", ""]]
        case .integer(let range):
            [
                "type": "integer", "minimum": JSONValue(range.lowerBound), "maximum": JSONValue(range.upperBound),
            ]
        case .word(let words): ["type": "string", "enum": JSONValue(words)]
        case .json(let max):
            ["type": "string", "contentMediaType": "application/json", "$comment": .string(Self.jsonComment(max))]
        case .id: ["type": "string"]
        case .photo:
            [
                "type": "string", "format": "binary", "contentMediaType": "application/octet-stream",
                "$comment": "1 to \(settings.maxUploadBytes) bytes.",
            ]
        }
    }

    /// The values that it may have in a JSON body.
    ///
    /// Numbers and booleans count as their text, and `null` and an empty array as missing.
    func schemaInJSON(_ settings: ServiceConfiguration) -> JSONValue {
        switch kind {
        case .text, .lines, .line, .email:
            let missing = isRequired ? [] : ["null", "array"]
            let schema = schema(settings).with(["type": JSONValue(["string", "number", "boolean"] + missing)])
            return isRequired ? schema : schema.with(["maxItems": 0])
        case .flag:
            return ["enum": ["true", "false", "yes", "no", "on", "off", "1", "0", "", true, false, 1, 0, .null]]
        case .json(let max): return ["type": ["object", "null"], "$comment": .string(Self.jsonComment(max))]
        case .encryptedPassword, .encryptedNewPassword, .typedPassword, .typedNewPassword, .code, .integer, .word, .id,
            .signature, .photo:
            return schema(settings)
        }
    }

    private static func jsonComment(_ maxBytes: Int) -> String {
        "A JSON object of at most \(maxBytes) bytes without white space."
    }

    /// A password of an account, encrypted.
    private static let ciphertextFormat = "aescrypt"
    /// A new password that keeps to its rules, as it was typed.
    private static let typedNewPasswordFormat = "password-new"
    /// A new password that keeps to its rules, encrypted.
    private static let newPasswordFormat = "aescrypt-new"

    /// The example, as a query or a form has it.
    var exampleValue: JSONValue {
        if case .integer = kind { .number(example) } else { .string(example) }
    }

    /// The example, as a JSON body has it.
    var exampleInJSON: JSONValue {
        if case .json = kind, let value = try? JSONValue.parse(example.utf8) { value } else { exampleValue }
    }

    private var mustNotBeBlank: Bool { validationErrors.contains { $0.code == "\(name)_blank" } }
}

/// Regular expressions of ECMA-262 for texts.
enum Pattern {
    /// All control characters but those that are white space: tab, the line ends, U+000B, U+000C and U+0085.
    private static let controls = #"\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f"#

    /// The schema of a text with a control character.
    static let control: JSONValue = ["type": "string", "pattern": #"[\u0000-\u001f\u007f-\u009f]"#]
    /// The same of one that is no white space, which becomes a space in names.
    static let controlButSpace: JSONValue = ["type": "string", "pattern": .string("[\(controls)]")]
    /// The same of one that is no tab and no line end.
    static let controlButLineEnd: JSONValue = [
        "type": "string", "pattern": #"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]"#,
    ]
    /// The schema of a name that no part of a multipart body can have.
    static let noPartName: JSONValue = ["type": "string", "pattern": .string(#"\u0000|\\$"#)]
    /// A text with something beside white space.
    static let notBlank = #"^[^\#(controls)]*[^\s\u0085\#(controls)][^\#(controls)]*$"#
    /// An `@`, and a dot somewhere behind it, with something before, between and after.
    static let email = #"^[^@\u0000]*[^@\s\u0000]@([^@.\u0000]+\.)+[^@.\s\u0000][^@.\u0000]*$"#
}

extension Endpoint.Answer.Member.Kind {
    /// The values that it has, as JSON Schema.
    var schema: JSONValue {
        switch self {
        case .text: ["type": "string"]
        case .textOrNull: ["type": ["string", "null"]]
        case .null: ["type": "null"]
        case .time: ["type": "string", "format": "date-time", "pattern": .string(Self.timePattern)]
        case .timeOrNull: ["type": ["string", "null"], "format": "date-time", "pattern": .string(Self.timePattern)]
        case .numberOrNull: ["type": ["integer", "null"], "minimum": 0]
        case .url: ["type": "string", "format": "uri"]
        case .urlOrNull: ["type": ["string", "null"], "format": "uri"]
        case .object: ["type": "object"]
        case .flag: ["type": "boolean"]
        }
    }

    /// Three decimals, and UTC.
    private static let timePattern = #"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"#
}
