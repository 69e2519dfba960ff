import SelfieAccounts

extension Endpoint {
    /// What a client may send with a call.
    package struct Parameter: Sendable {
        /// The name that clients send.
        package let name: String
        package let location: Location
        package let isRequired: Bool
        /// When it is required although it need not always be there.
        var need: Need?
        package let kind: Kind
        /// What it means, in a few words.
        let summary: String
        /// A value that breaks no rule.
        package private(set) var example: String
        /// The refusals of a value that breaks a rule.
        package let validationErrors: [ServiceError]
        /// What is valid, in a few words; nil where the kind says it, or there is no more to say.
        var valid: String?

        /// The same with another example.
        func with(example: String) -> Self {
            var parameter = self
            parameter.example = example
            return parameter
        }

        enum Need: Sendable {
            /// If there is no `code`.
            case withoutCode
            /// If accounts can't be made without a password.
            case ofNewAccount
        }

        /// The refusal of a value that it can't have.
        var invalid: ServiceError { ServiceError(.invalid, of: name, valid: valid ?? kind.valid) }

        /// Where it is sent.
        package enum Location: Sendable {
            /// The query, or a body: JSON, a form or multipart. The query wins.
            case anywhere
            /// The path.
            case path
            /// Only the query.
            case query
            /// A part of a multipart body.
            case multipart
            /// The name that the file of such a part has.
            case fileName
        }

        /// The kind of its value.
        package enum Kind: Sendable, Equatable {
            /// A text of at most this many characters. With nil, only the body's limit counts.
            case text(maxCharacters: Int?)
            /// A text of any number of lines, of at most this many characters.
            case lines(maxCharacters: Int)
            /// A text of one line, without control characters, of at most this many characters.
            case line(maxCharacters: Int)
            /// An e-mail of a new account, of at most this many characters.
            case email(maxCharacters: Int)
            /// A password as AESCrypt encrypts it.
            case encryptedPassword
            /// The same for a new password, within these limits.
            case encryptedNewPassword(minCharacters: Int, maxBytes: Int)
            /// A code of so many digits.
            case code(digits: Int)
            /// A password as it was typed.
            case typedPassword
            /// The same for a new password, within these limits.
            case typedNewPassword(minCharacters: Int, maxBytes: Int)
            /// `true`, `yes`, `on` or `1`, or the opposite. Missing means no.
            case flag
            /// A whole number in a range.
            case integer(ClosedRange<Int>)
            /// One of these words.
            case word([String])
            /// A JSON object of at most this many bytes.
            case json(maxBytes: Int)
            /// An id from an answer.
            case id
            /// A part of a signed URL.
            case signature
            /// A photo's bytes, at most `UPLOAD_BYTES_MAX`.
            case photo

            /// What is valid, in a few words; nil where there is no more to say.
            var valid: String? {
                switch self {
                case .flag: "true or false"
                case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
                case .word(let words): words.joined(separator: " or ")
                default: nil
                }
            }

            /// The rules that a value may break.
            var rules: [ValidationError.Reason] {
                switch self {
                case .text(let max): [.invalid] + (max.map { [.tooLong(maxCharacters: $0)] } ?? [])
                case .lines(let max), .line(let max): [.invalid, .tooLong(maxCharacters: max)]
                case .email(let max): [.taken, .invalid, .tooLong(maxCharacters: max)]
                case .encryptedNewPassword(let min, let max), .typedNewPassword(let min, let max):
                    [.tooShort(minCharacters: min), .tooManyBytes(max: max), .invalid]
                case .json(let max):
                    [
                        .invalid, .tooManyBytes(max: max), .tooDeep(maxDepth: ProfileFields.maxDepth), .hasNull,
                        .numberOutOfRange,
                    ]
                case .flag, .integer, .word, .id: [.invalid]
                case .photo: [.blank]
                case .encryptedPassword, .typedPassword, .code, .signature: []
                }
            }

            /// Whether its value is a password, encrypted or not, or a code.
            var isPassword: Bool {
                switch self {
                case .encryptedPassword, .encryptedNewPassword, .typedPassword, .typedNewPassword, .code: true
                default: false
                }
            }
        }
    }
}
