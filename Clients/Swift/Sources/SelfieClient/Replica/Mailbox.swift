import Foundation

/// The ids of records that have changed since somebody looked: each once, however slowly they are fetched.
final class Mailbox: Sendable {
    private struct State {
        var ids: Set<String> = []
        var isFinished = false
        var reader: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    func put(_ ids: Set<String>) {
        wake { $0.ids.formUnion(ids) }
    }

    func finish() {
        wake { $0.isFinished = true }
    }

    private func wake(_ change: (inout State) -> Void) {
        let reader = state.withLock { state in
            change(&state)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Waits for ids, and takes them.
    ///
    /// - Returns: At least one; nil at the end, or when the task is cancelled.
    func take() async -> Set<String>? {
        while true {
            let ids: Set<String>? = state.withLock { state in
                defer { state.ids = [] }
                return state.ids.isEmpty && state.isFinished ? nil : state.ids
            }
            guard let ids else { return nil }
            if !ids.isEmpty { return ids }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        guard state.ids.isEmpty, !state.isFinished, !Task.isCancelled else { return true }
                        state.reader = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                wake { _ in }
            }
            if Task.isCancelled { return nil }
        }
    }
}
