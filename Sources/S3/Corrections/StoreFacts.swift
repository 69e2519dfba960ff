import Foundation
import Synchronization

/// What a request must know of its store, and what a refusal may teach.
struct StoreFacts: Sendable, Hashable {
    /// Where the bucket is.
    var configuration: S3Configuration
    /// What to add to our time for the store's, in whole seconds.
    var clockOffset: TimeInterval = 0
    /// Whether the store's entity tags were found to be no MD5 digests.
    var hasOpaqueTags = false
}

/// The facts as all calls of a client know them.
///
/// A call that finds one wrong says which it used. So of many calls that fail at the same time, the first corrects it,
/// and the others find it corrected.
final class LearnedFacts: Sendable {
    private let facts: Mutex<StoreFacts>

    init(configuration: S3Configuration) {
        facts = Mutex(StoreFacts(configuration: configuration))
    }

    var current: StoreFacts { facts.withLock { $0 } }

    /// Takes on where the bucket is, unless that was corrected since.
    func correct(configuration: S3Configuration, from used: S3Configuration) {
        facts.withLock { facts in
            if facts.configuration == used { facts.configuration = configuration }
        }
    }

    /// Takes on how far the store's clock is from ours, unless that was corrected since.
    func correct(clockOffset: TimeInterval, from used: TimeInterval) {
        facts.withLock { facts in
            if facts.clockOffset == used { facts.clockOffset = clockOffset }
        }
    }

    /// Takes on that entity tags say nothing about the bytes.
    func noteOpaqueTags() {
        facts.withLock { $0.hasOpaqueTags = true }
    }
}
