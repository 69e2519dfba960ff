package import Testing

/// Runs tests on ``DedicatedThreads``.
///
/// For each priority, Swift's own executor has as many threads as the machine has cores. A test that computes for long, or
/// waits for another process without suspending, as exit tests do, keeps one of them from all other tests.
package struct OnDedicatedThreads: TestTrait, TestScoping {
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(DedicatedThreads()) { try await function() }
    }
}

extension Trait where Self == OnDedicatedThreads {
    /// On threads that no other test case uses.
    package static var onDedicatedThreads: Self { Self() }
}
