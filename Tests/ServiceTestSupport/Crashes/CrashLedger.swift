package import Foundation
import Synchronization

/// What a client knows of its photos while servers die under it.
package final class CrashLedger: Sendable {
    private struct State {
        /// Photos whose upload was answered 200, with what they hold.
        var uploaded: [String: Data] = [:]
        /// Photos whose deletion was asked for, whatever came of it.
        var deletionsSent: Set<String> = []
        /// Photos whose deletion was answered 200.
        var deleted: Set<String> = []
        /// Requests that a crash left without an answer.
        var silenceCount = 0
        /// Answers that no crash explains.
        var surprises: [String] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var surprises: [String] { state.withLock { $0.surprises } }
    package var deleted: Set<String> { state.withLock { $0.deleted } }
    package var silenceCount: Int { state.withLock { $0.silenceCount } }
    package var uploadCount: Int { state.withLock { $0.uploaded.count } }
    /// Photos that must be there, with what they hold.
    package var kept: [String: Data] {
        state.withLock { state in state.uploaded.filter { !state.deletionsSent.contains($0.key) } }
    }
    /// Photos that may be there.
    package var uploaded: [String: Data] { state.withLock { $0.uploaded } }

    package func noteUpload(_ randomID: String, _ image: Data) {
        state.withLock { $0.uploaded[randomID] = image }
    }

    package func noteDeletion(_ randomID: String) {
        state.withLock { _ = $0.deleted.insert(randomID) }
    }

    package func noteSilence() {
        state.withLock { $0.silenceCount += 1 }
    }

    package func noteSurprise(_ text: String) {
        state.withLock { $0.surprises.append(text) }
    }

    /// Picks photos to delete, none of them twice.
    package func pickForDeletion(atMost count: Int) -> [String] {
        state.withLock { state in
            let picked = state.uploaded.keys.filter { !state.deletionsSent.contains($0) }.sorted().prefix(count)
            state.deletionsSent.formUnion(picked)
            return Array(picked)
        }
    }
}
