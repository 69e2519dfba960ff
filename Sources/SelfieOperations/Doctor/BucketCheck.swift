import Encodings
import FoundationEssentials
import NIOHTTP1
import S3
import SelfieConfiguration

/// Checks the bucket: keys, connection, region, clock and public access.
///
/// Then it tries each call with an object.
struct BucketCheck: Sendable {
    let bucket: ServiceConfiguration.Bucket
    let plain: PlainRequest
    let makesBucket: Bool
    let findings: Findings

    private static let rest = "put, get, ranges, signed URLs, uploads in parts, delete"

    func run() async {
        let credentials = S3CredentialCache(
            source: bucket.credentials,
            curl: plain.curl,
            now: plain.now
        )
        guard await checkKeys(credentials), let greeting = await greet() else {
            return findings.skipped("\(Self.rest), and public access")
        }
        checkClock(greeting)
        if greeting.isList {
            findings.warning("PUBLIC: anybody on the internet can list all photos", BucketProbe.publicRemedy)
        }
        let client = S3Client(
            curl: plain.curl,
            configuration: bucket.configuration,
            credentials: credentials,
            now: plain.now
        )
        guard let mayList = await checkAdmission(client) else { return findings.skipped(Self.rest) }
        await BucketProbe(check: self, client: client, isListedPublicly: greeting.isList, mayList: mayList).run()
    }

    func diagnosis(of error: S3Error, at step: BucketStep) -> Diagnosis {
        bucket.diagnosis(of: error, at: step, secrets: findings.secrets)
    }

    private func checkKeys(_ cache: S3CredentialCache) async -> Bool {
        do throws(S3CredentialError) {
            let end = try await cache.current().expiration.map { ", until \($0.formatted(.iso8601))" } ?? ""
            findings.ok("keys from \(bucket.credentials.origin)\(end)")
            return true
        } catch {
            findings.failed(diagnosis(of: .noCredentials(error), at: .list))
            return false
        }
    }

    /// Asks without keys.
    ///
    /// Every answer, even a refusal, shows that the store works, and its time.
    private func greet() async -> PlainRequest.Answer? {
        let url = bucket.configuration.url()
        do {
            let answer = try await plain.get("\(url)?list-type=2&max-keys=1")
            // It may be a web page, for instance.
            if answer.isSuccess, !answer.isList { throw S3NoAnswer.malformed }
            findings.ok("reachable at \(url)")
            return answer
        } catch {
            findings.failed(diagnosis(of: .unanswered(error), at: .list))
            return nil
        }
    }

    /// Compares the clocks.
    ///
    /// If the store's is more than 15 minutes off, the client signs by it, but all other times stay wrong.
    private func checkClock(_ answer: PlainRequest.Answer) {
        guard let seconds = answer.headers.first(name: "date").flatMap({ HTTPDate.seconds(of: $0) }) else { return }
        findings.clock(
            "the store's clock",
            at: Date(timeIntervalSince1970: TimeInterval(seconds)),
            sent: answer.sent,
            received: answer.received,
            precision: 1,
            maxSeconds: 60
        )
    }

    /// Checks whether the store accepts the keys, and where the bucket is.
    ///
    /// - Returns: Whether the keys may list objects; nil when other calls would fail, too.
    private func checkAdmission(_ client: S3Client) async -> Bool? {
        do throws(S3Error) {
            try await client.prepare()
            checkRegion(client)
            findings.ok("the store accepts the keys, and they may list objects")
            return true
        } catch {
            checkRegion(client)
            if error.isMissingBucket { return await makeBucket(client) ? true : nil }
            guard error.isDenial else {
                findings.failed(diagnosis(of: error, at: .list))
                return nil
            }
            findings.warning(
                "the keys may not list objects, which selfie photos reconcile needs",
                diagnosis(of: error, at: .list).remedy
            )
            return false
        }
    }

    private func checkRegion(_ client: S3Client) {
        let (configured, found) = (bucket.configuration.region, client.configuration.region)
        guard configured != found else { return }
        findings.warning(
            "it is in the region \(found), not in \(configured)",
            "Set AWS_REGION=\(found). Without it, each process learns it from a refusal."
        )
    }

    private func makeBucket(_ client: S3Client) async -> Bool {
        guard makesBucket else {
            findings.warning(
                "there is no bucket \(bucket.configuration.bucket) yet; the first upload creates it",
                "If the name is right, run selfie doctor --make-bucket to make it and to check the rest."
            )
            return false
        }
        do throws(S3Error) {
            try await client.createBucket()
            findings.ok("made the bucket \(bucket.configuration.bucket)")
            return true
        } catch {
            findings.failed(diagnosis(of: error, at: .make))
            return false
        }
    }
}
