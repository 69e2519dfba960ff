/// The elements of a list, which is read page by page as they are asked for.
///
/// Each iteration reads the list anew. ``SelfieError`` or `CancellationError` ends it.
public struct PagedSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// Reads a page: the one behind `after`, or the first for nil.
    ///
    /// It returns the elements, and `after` of the next page; nil behind the last.
    typealias ReadPage = @Sendable (_ after: String?) async throws -> ([Element], String?)

    let readPage: ReadPage

    public func makeAsyncIterator() -> Iterator { Iterator(readPage: readPage) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let readPage: ReadPage
        private var elements: ArraySlice<Element> = []
        private var after: String?
        private var isAtEnd = false

        fileprivate init(readPage: @escaping ReadPage) { self.readPage = readPage }

        public mutating func next() async throws -> Element? {
            // A page may be empty, and others follow it all the same.
            while elements.isEmpty, !isAtEnd {
                let (page, next) = try await readPage(after)
                (elements, after, isAtEnd) = (page[...], next, next == nil)
            }
            return elements.popFirst()
        }
    }

    /// All of them in an array.
    ///
    /// - Returns: The elements, in the list's order.
    /// - Throws: ``SelfieError``, or `CancellationError`.
    public func collect() async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }
}
