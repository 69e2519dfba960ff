/// One name and value of a query, not encoded.
struct QueryItem: Sendable, Hashable {
    /// The name, as S3 documents it.
    let name: String
    /// The value; empty for a bare name such as `lifecycle`.
    let value: String

    init(_ name: String, _ value: String = "") {
        self.name = name
        self.value = value
    }
}
