import SelfieWeb

/// A change of a valid request that puts a text into one position.
struct Mark: Sendable {
    /// The position.
    let what: String
    let put: @Sendable (inout SampleRequest) -> Void

    init(_ what: String, put: @escaping @Sendable (inout SampleRequest) -> Void) {
        self.what = what
        self.put = put
    }

    /// A text in every position of a request, each by itself.
    static func everywhere(in sample: SampleRequest, _ text: MarkText) -> [Mark] {
        path(of: sample, text) + query(of: sample, text) + headers(of: sample, text) + forms(of: sample, text)
            + parts(of: sample, text)
            + (sample.endpoint.body == nil ? jsonParameters(of: sample, text) : jsonMembers(of: sample, text))
    }
}
