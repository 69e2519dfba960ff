import FoundationEssentials
import Synchronization

/// Facts about the store that requests depend on.
///
/// A refusal may correct it.
struct StoreFacts: Sendable, Hashable {
    /// Where the bucket is.
    var configuration: S3Configuration
    /// How many whole seconds the store's clock is ahead of ours.
    var clockOffset: TimeInterval = 0
    /// Whether the store's entity tags were found to be no MD5 digests.
    var hasOpaqueTags = false
    /// Whether a deletion of an object leaves its versions.
    var versioning = Versioning.unasked
    /// How many objects the next call deletes.
    var deletionBatch = DeletionBatch()
}

/// Whether a bucket keeps old versions of its objects, or did so once.
enum Versioning: Sendable, Hashable {
    case unasked
    /// The store can't answer, or these keys may not ask.
    case unknown
    case none
    case kept
}

/// The facts that all calls of a client share.
///
/// A call that corrects a fact names the value that it used. So when many calls fail at once, only the first one
/// changes it.
final class LearnedFacts: Sendable {
    private let facts: Mutex<StoreFacts>

    init(configuration: S3Configuration) {
        facts = Mutex(StoreFacts(configuration: configuration))
    }

    var current: StoreFacts { facts.withLock { $0 } }

    /// Corrects a fact, unless another call has done so.
    func correct<Fact: Equatable>(_ fact: WritableKeyPath<StoreFacts, Fact>, to value: Fact, from used: Fact) {
        facts.withLock { facts in
            if facts[keyPath: fact] == used { facts[keyPath: fact] = value }
        }
    }

    /// Notes that entity tags say nothing about the bytes.
    func noteOpaqueTags() {
        facts.withLock { $0.hasOpaqueTags = true }
    }

    /// Notes whether a deletion of an object leaves its versions.
    ///
    /// Once `kept`, it stays so.
    func note(_ versioning: Versioning) {
        facts.withLock { facts in
            if facts.versioning != .kept { facts.versioning = versioning }
        }
    }

    /// Notes how long the store took to delete some objects.
    func noteDeletion(of count: Int, took duration: Duration, succeeded: Bool) {
        facts.withLock { $0.deletionBatch.note(count: count, took: duration, succeeded: succeeded) }
    }
}
