package import JSON

extension Endpoint {
    /// The JSON that a call takes as its body, and nothing else.
    package struct JSONBodyDescription: Sendable {
        /// The values that it may have, as JSON Schema.
        package let schema: JSONValue
        /// One that breaks no rule.
        package let example: JSONValue
        /// What it means, in a few words.
        let summary: String
        /// The refusals of values that break a rule.
        package let validationErrors: [ServiceError]

        init(_ summary: String, schema: JSONValue, example: JSONValue, validationErrors: [ServiceError] = []) {
            self.schema = schema
            self.example = example
            self.summary = summary
            self.validationErrors = validationErrors
        }
    }
}
