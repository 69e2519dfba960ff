/// The records of a list, which is read page by page.
public struct RecordSequence<Fields: RecordFields>: AsyncSequence, Sendable {
    public typealias Element = Record<Fields>

    let page: @Sendable (_ after: String?) async throws -> RecordPage<Fields>

    public func makeAsyncIterator() -> Iterator { Iterator(page: page) }

    public struct Iterator: AsyncIteratorProtocol {
        let page: @Sendable (_ after: String?) async throws -> RecordPage<Fields>
        private var records: ArraySlice<Record<Fields>> = []
        private var next: String?
        private var isAtEnd = false

        init(page: @escaping @Sendable (_ after: String?) async throws -> RecordPage<Fields>) { self.page = page }

        public mutating func next() async throws -> Record<Fields>? {
            while records.isEmpty, !isAtEnd {
                let page = try await page(next)
                (records, next, isAtEnd) = (page.records[...], page.next, page.next == nil)
            }
            return records.popFirst()
        }
    }

    /// All of them in an array.
    public func collect() async throws -> [Record<Fields>] {
        var records: [Record<Fields>] = []
        for try await record in self { records.append(record) }
        return records
    }
}
