import Budgets
import Concurrency
import Cryptography
import Encodings
import LinuxFiles
import Logging
import NIOCore
import ObjectStore
import Outages
import Renderer
import Synchronization

/// Makes small pictures of photos, each once, and stores them beside the photos.
///
/// A process of its own decodes each photo (decision 33). Owners take turns. Two processes of the service never make the
/// same picture at once: a row is the claim, and ends after a minute.
package final class MakeRendition: Sendable {
    private let photos: PhotoStore
    private let objects: any ObjectStore
    private let renderer: RenderProcess
    private let permits: FairSemaphore
    private let flights = SingleFlight<Work>()
    private let backlog: AsyncStream<Owned>
    private let backlogInput: AsyncStream<Owned>.Continuation
    /// Until when no renderer is started, because there is none.
    private let pausedUntil = Mutex<ContinuousClock.Instant?>(nil)
    private let outages: OutageReport
    private let counts = Mutex<[String: Int]>([:])
    private let backlogCounts = Mutex(BacklogCounts())
    private let logger: Logger

    private struct Work: Hashable {
        let randomID: String
        let size: RenditionSize
    }

    private struct Owned {
        let randomID: String
        let userID: Int
    }

    /// How many pictures may wait for the renderer.
    private static let maxWaiting = 1_000
    /// How many of them may be one owner's.
    private static let maxWaitingPerOwner = 200
    /// How many new photos may wait for the time when nobody waits.
    ///
    /// Those beyond are rendered when somebody asks.
    private static let maxBacklog = 1_000
    /// How long a request waits for a picture.
    private static let patience: Duration = .seconds(5)
    /// How often a photo may take too long before it is never tried again.
    private static let maxSlowAttempts = 5
    /// How long a missing renderer is not looked for again.
    private static let pause: Duration = .seconds(60)
    /// How much of a photo is read: more than the renderer takes, so that it refuses what is too long.
    private static let maxPhotoBytes = 64 << 20
    /// How often it looks whether another process has finished, or whether nobody waits.
    private static let interval: Duration = .milliseconds(100)

    /// - Parameters:
    ///   - photos: The rows.
    ///   - objects: The store.
    ///   - renderer: Decodes photos.
    ///   - atOnce: How many are rendered at once, at least one.
    ///   - logger: Logs failures.
    init(photos: PhotoStore, objects: any ObjectStore, renderer: RenderProcess, atOnce: Int, logger: Logger) {
        self.photos = photos
        self.objects = objects
        self.renderer = renderer
        self.logger = logger
        permits = FairSemaphore(
            "RENDITIONS_WAITING",
            limits: FairSemaphore.Limits(
                permits: atOnce,
                waiting: Self.maxWaiting,
                waitingPerGroup: Self.maxWaitingPerOwner
            )
        )
        (backlog, backlogInput) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maxBacklog))
        outages = OutageReport(
            failing: "small pictures can't be made, so photos are served instead",
            over: "small pictures can be made again",
            logger: logger
        )
    }

    /// How many pictures this process has made, and how many it has not, by the reason; `made` for the first.
    package var outcomeCounts: [String: Int] { counts.withLock { $0 } }

    /// What ``outcomeCounts`` may have.
    package static let outcomes = ["made"] + failureReasons

    /// Why a small picture was not made: the words of the renderer, and those about the objects.
    package static let failureReasons = RenderFailure.words + ["object_missing", "store", "lost", "interrupted"]

    /// Whether a renderer may be there.
    package var isAvailable: Bool { pausedUntil.withLock { $0.map { $0 <= .now } ?? true } }

    /// Makes a small picture, or waits until it is made, but not for long.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - size: The size.
    /// - Returns: The photo with the small picture, if it is there; nil when the photo is deleted.
    /// - Throws: `PostgresError`.
    package func callAsFunction(_ photo: SizedPhoto, _ size: RenditionSize) async throws -> SizedPhoto? {
        guard isAvailable else { return photo }
        let work = Work(randomID: photo.original.randomID, size: size)
        do {
            try await race(
                { await self.flights.perform(work) { await self.make(work, ofUser: photo.userID) } },
                against: {
                    try await Task.sleep(for: Self.patience)
                    return NotInTime()
                }
            )
        } catch is NotInTime {
            return photo
        }
        return try await photos.sizedPhoto(work.randomID, size)
    }

    private struct NotInTime: Error {}

    /// Makes all sizes of a photo when nobody waits for another one.
    func makeLater(of randomID: String, userID: Int) {
        guard backlogCounts.withLock({ $0.enter(userID) }) else { return }
        if case .enqueued = backlogInput.yield(Owned(randomID: randomID, userID: userID)) { return }
        backlogCounts.withLock { $0.leave(userID) }
    }

    /// Works through the backlog until the task is cancelled, and then ends all renderings.
    ///
    /// - Parameter includesBacklog: Whether new photos are rendered before somebody asks.
    package func run(includesBacklog: Bool) async {
        for await photo in backlog {
            backlogCounts.withLock { $0.leave(photo.userID) }
            for size in RenditionSize.allCases where includesBacklog {
                while permits.waitingCount > 0 || !isAvailable, !Task.isCancelled {
                    try? await Task.sleep(for: Self.interval)
                }
                if Task.isCancelled { break }
                let work = Work(randomID: photo.randomID, size: size)
                await flights.perform(work) { await self.make(work, ofUser: photo.userID) }
            }
        }
        await flights.end()
    }

    private func make(_ work: Work, ofUser userID: Int) async {
        do {
            let permit = try await permits.acquire(for: FairSemaphore.Caller(group: "\(userID)"))
            if let claim = try await photos.claimRendition(of: work.randomID, work.size) {
                return try await make(claim)
            }
            _ = consume permit
            // Another process may have the claim.
            while try await photos.isRenditionPending(of: work.randomID, work.size) {
                try await Task.sleep(for: Self.interval)
            }
        } catch is CancellationError, is TooBusy {
            return
        } catch {
            logger.warning("a small picture was not made", metadata: ["error": "\(error)"])
        }
    }

    private func make(_ claim: PhotoStore.RenditionClaim) async throws {
        let outcome: RenderOutcome
        do {
            guard let file = try await objects.file(key: claim.originalKey, maxBytes: Self.maxPhotoBytes + 1)
            else { return try await fail(claim, reason: "object_missing", isFinal: false) }
            outcome = try await renderer.render(file.descriptor, longerSide: claim.size.longerSide)
            withExtendedLifetime(file) {}
        } catch let failure as RenderFailure {
            return try await fail(claim, failure)
        } catch {
            try await fail(claim, reason: "store", isFinal: false)
            throw error
        }
        outages.succeeded()
        switch outcome {
        case .smallEnough: try await photos.finishWithOriginal(claim)
        case .rendition(let rendition):
            do {
                try await store(rendition, claim)
            } catch {
                try await fail(claim, reason: "store", isFinal: false)
                throw error
            }
        }
        count("made")
    }

    private func store(_ rendition: Rendition, _ claim: PhotoStore.RenditionClaim) async throws {
        var spool = Spool()
        try await spool.append(ByteBuffer(bytes: rendition.bytes))
        let object = try await objects.hashed(try await spool.finish())
        try await objects.put(object, key: claim.key, contentType: rendition.contentType)
        try await photos.finish(
            claim,
            contentType: rendition.contentType,
            byteCount: rendition.bytes.count,
            digest: SHA256.hash(rendition.bytes).withUnsafeBytes { Base64URL.string(of: $0) }
        )
    }

    private func fail(_ claim: PhotoStore.RenditionClaim, _ failure: RenderFailure) async throws {
        switch failure {
        case .programMissing, .libraryMissing, .notStarted:
            // A photo may have subverted its renderer to say so.
            if await isWorking() { return try await fail(claim, reason: failure.word, isFinal: false) }
            pausedUntil.withLock { $0 = .now + Self.pause }
            outages.failed("\(failure)", kind: failure.word)
            count(failure.word)
            try await photos.release(claim, reason: failure.word)
        case .cancelled: try await photos.release(claim, reason: "interrupted")
        case .timeExceeded:
            // A machine that is busy for a moment must not condemn a good photo.
            try await fail(claim, reason: failure.word, isFinal: claim.attempt >= Self.maxSlowAttempts)
        default: try await fail(claim, reason: failure.word, isFinal: failure.isOfThePicture)
        }
    }

    /// Whether a picture of our own can be rendered.
    private func isWorking() async -> Bool {
        do throws(RenderFailure) {
            try await renderer.check()
            return true
        } catch {
            return false
        }
    }

    private func fail(_ claim: PhotoStore.RenditionClaim, reason: String, isFinal: Bool) async throws {
        count(reason)
        try await photos.fail(claim, reason: reason, isFinal: isFinal)
    }

    private func count(_ outcome: String) {
        counts.withLock { $0[outcome, default: 0] += 1 }
    }
}
