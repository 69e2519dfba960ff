/// Runs an operation for many elements, a few at a time, and takes each result as it comes.
///
/// - Parameters:
///   - elements: In the order in which their operations begin.
///   - limit: How many run at a time. It is asked each time before one begins.
///   - operation: Must end soon when its task is cancelled.
///   - body: Takes a result, one after another, in any order.
/// - Throws: What an operation or the body threw first; the others are cancelled.
package func forEachResult<Element: Sendable, Result: Sendable>(
    of elements: some Sequence<Element>,
    atOnce limit: @autoclosure () -> Int,
    by operation: @escaping @Sendable (Element) async throws -> Result,
    _ body: (Result) throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Result.self) { group in
        var running = 0
        for element in elements {
            while running >= limit(), let result = try await group.next() {
                running -= 1
                try body(result)
            }
            group.addTask { try await operation(element) }
            running += 1
        }
        for try await result in group { try body(result) }
    }
}
