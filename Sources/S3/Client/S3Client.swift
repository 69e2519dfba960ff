package import Concurrency
package import Curl
package import FoundationEssentials

/// A client for one bucket of an S3-compatible store.
///
/// Every call has up to three attempts within its deadline, and each is signed again. The store's answers put
/// right a wrong region, a wrong clock and keys that have ended. It sends no ACL and no checksum header besides
/// `x-amz-content-sha256`: buckets made since April 2023 refuse the first, other stores the second.
package struct S3Client: Sendable {
    /// The most bytes of UTF-8 in a key (AWS, "Naming Amazon S3 objects").
    static let maxKeyBytes = 1_024

    let curl: CurlClient
    let learned: LearnedFacts
    let credentials: S3CredentialCache
    let deadlines: S3Deadlines
    let retries: S3RetryPolicy
    let uploads: S3UploadPolicy
    let objectsInParts = ObjectsInParts()
    let clock: any MonotonicClock
    let now: @Sendable () -> Date
    /// Headers of the caller's for each request, which are not signed.
    let callerHeaders: @Sendable () -> [(name: String, value: String)]

    /// Makes a client.
    ///
    /// It owns nothing that must be shut down.
    ///
    /// - Parameters:
    ///   - curl: made with ``connections(deadlines:)``.
    ///   - configuration: the bucket, and how it is addressed.
    ///   - credentials: the source of the keys.
    ///   - deadlines: how long calls may take.
    ///   - retries: when and after what pause another attempt begins.
    ///   - uploads: which objects go in parts.
    ///   - clock: the clock of deadlines and pauses.
    ///   - callerHeaders: headers for each request, asked for in the caller's task. They are not signed.
    ///   - now: the signing date of an attempt.
    package init(
        curl: CurlClient,
        configuration: S3Configuration,
        credentials: S3CredentialCache,
        deadlines: S3Deadlines = S3Deadlines(),
        retries: S3RetryPolicy = S3RetryPolicy(),
        uploads: S3UploadPolicy = S3UploadPolicy(),
        clock: any MonotonicClock = ContinuousClock(),
        callerHeaders: @escaping @Sendable () -> [(name: String, value: String)] = { [] },
        now: @escaping @Sendable () -> Date
    ) {
        self.curl = curl
        learned = LearnedFacts(configuration: configuration)
        self.credentials = credentials
        self.deadlines = deadlines
        self.retries = retries
        self.uploads = uploads
        self.clock = clock
        self.callerHeaders = callerHeaders
        self.now = now
    }

    /// The bucket, and how it is addressed.
    ///
    /// The region is the one that the store named last.
    package var configuration: S3Configuration { learned.current.configuration }

    /// How many requests are under way.
    package var transferCount: Int {
        get async { await curl.transferCount }
    }

    /// Whether an answer showed that the bucket keeps old versions of its objects, or did so once.
    package var keepsVersions: Bool { learned.current.versioning == .kept }

    /// How many seconds the store's clock was found to be ahead of ours; 0 until a request was refused for it.
    var clockOffset: TimeInterval { learned.current.clockOffset }

    /// How a client for a bucket makes its connections.
    ///
    /// - Parameter deadlines: the same as the client's.
    /// - Returns: a configuration to make the `CurlClient` with.
    package static func connections(deadlines: S3Deadlines = S3Deadlines()) -> CurlConfiguration {
        var configuration = CurlConfiguration()
        configuration.maxConnectionsPerHost = maxConnections
        configuration.idle = deadlines.idle
        return configuration
    }

    /// Each slow client of this process holds one, and others must not wait for it.
    private static let maxConnections = 1_024

    /// The deadline of a call that begins now.
    func deadline(in limit: Duration) -> Deadline { Deadline(in: limit, clock: clock) }

    /// The deadline of a call for many objects, which begins now.
    ///
    /// The store may be silent until then.
    func deadlineForMany() -> Deadline { Deadline(in: deadlines.list, allowsSilence: true, clock: clock) }

    /// The keys and facts for signing the next attempt.
    func signing() async throws(S3Error) -> Signing {
        do {
            return Signing(facts: learned.current, credentials: try await credentials.current(), date: now())
        } catch {
            throw S3Error(error)
        }
    }

    /// Replaces keys that the store refused as ended, for the next attempt.
    func replace(_ rejected: S3Credentials) async throws(S3Error) {
        do {
            _ = try await credentials.replacement(for: rejected)
        } catch {
            throw S3Error(error)
        }
    }
}
