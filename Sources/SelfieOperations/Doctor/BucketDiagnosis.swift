import AsyncHTTPClient
import Encodings
import FoundationEssentials
import NIOCore
import NIOHTTP1
import S3
import SelfieConfiguration

/// Checks the bucket: keys, connection, region, clock and public access.
///
/// Then it tries each call with an object.
struct BucketDiagnosis: Sendable {
    let bucket: ServiceConfiguration.Bucket
    let httpClient: HTTPClient
    let makesBucket: Bool
    let limits: DiagnosisLimits
    let now: @Sendable () -> Date
    let secrets: Secrets
    let findings: Findings

    private static let rest = "put, get, ranges, signed URLs, uploads in parts, delete"

    private var advice: S3Advice {
        S3Advice(address: BucketAddress(bucket.configuration, origin: bucket.credentials.origin), secrets: secrets)
    }

    private var plain: PlainRequest { PlainRequest(httpClient: httpClient, limit: limits.plainRequest, now: now) }

    func run() async {
        let credentials = S3CredentialCache(source: bucket.credentials, httpClient: httpClient, now: now)
        guard await checkKeys(credentials), let greeting = await greet() else {
            return findings.skipped("\(Self.rest), and whether the public sees it")
        }
        checkClock(greeting)
        let isListed = checkPublicList(greeting)
        let client = S3Client(
            httpClient: httpClient,
            configuration: bucket.configuration,
            credentials: credentials,
            now: now
        )
        guard let admission = await checkAdmission(client) else { return findings.skipped(Self.rest) }
        await BucketProbe(
            client: client,
            plain: plain,
            advice: advice,
            isListedPublicly: isListed,
            isListDenied: admission == .withoutList,
            now: now,
            findings: findings
        ).run()
    }

    private func checkKeys(_ cache: S3CredentialCache) async -> Bool {
        do throws(S3CredentialError) {
            let keys = try await cache.current()
            let end = keys.expiration.map { ", until \($0.formatted(.iso8601))" } ?? ""
            findings.ok("keys from \(bucket.credentials.origin)\(end)")
            return true
        } catch {
            findings.failed(advice.missingKeys(error))
            return false
        }
    }

    /// Asks without keys.
    ///
    /// Every answer, even a refusal, shows that the store is there, and its time.
    private func greet() async -> PlainRequest.Answer? {
        let url = bucket.configuration.url()
        do {
            let answer = try await plain.get("\(url)?list-type=2&max-keys=1")
            // It may be a web page, for instance.
            if answer.isSuccess, !answer.isList { throw S3NoAnswer.malformed }
            findings.ok("reachable at \(url)")
            return answer
        } catch {
            let trouble = NetworkTrouble(error)?.explanation(advice.address)
            findings.failed(
                trouble
                    ?? Explanation(
                        text: "\(url) can't be reached (\(secrets.hidden(in: "\(error)")))",
                        advice: "Check AWS_ENDPOINT_URL_S3 and S3_BUCKET_NAME, and the network in between."
                    )
            )
            return nil
        }
    }

    /// Compares the clocks.
    ///
    /// S3 refuses requests that are 15 minutes off. The client then signs by the store's clock, but all other times
    /// stay wrong.
    private func checkClock(_ answer: PlainRequest.Answer) {
        guard let seconds = answer.headers.first(name: "date").flatMap({ HTTPDate.seconds(of: $0) }) else { return }
        let date = Date(timeIntervalSince1970: TimeInterval(seconds))
        let skew = ClockSkew(remote: date, before: answer.sent, after: answer.received, precision: 1)
        skew.report("the store's clock", to: findings, maxSeconds: 60, failingSeconds: 15 * 60) {
            """
            Requests and photos' URLs are signed with this machine's time, and a store refuses what is more than 15 minutes \
            off. \(ClockSkew.remedy)
            """
        }
    }

    private func checkPublicList(_ answer: PlainRequest.Answer) -> Bool {
        guard answer.isList else { return false }
        findings.warning(
            "PUBLIC: anybody on the internet can list all photos, without any key",
            PublicAccess.advice
        )
        return true
    }

    /// What the keys may do so far.
    private enum Admission {
        case full, withoutList
    }

    /// Checks whether the store accepts the keys, and where the bucket is.
    ///
    /// - Returns: nil when there is no use in going on.
    private func checkAdmission(_ client: S3Client) async -> Admission? {
        do throws(S3Error) {
            try await client.prepare()
            checkRegion(client)
            findings.ok("the keys are taken, and may list objects")
            return .full
        } catch {
            checkRegion(client)
            switch error {
            case .notFound(let failure) where failure.code == "NoSuchBucket":
                return await missingBucket(client) ? .full : nil
            case .refused where advice.isDenial(error):
                let explanation = advice.explanation(of: error, at: .list)
                findings.warning(
                    "the keys may not list objects, which selfie photos reconcile needs",
                    explanation.advice
                )
                return .withoutList
            default:
                findings.failed(advice.explanation(of: error, at: .list))
                return nil
            }
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

    private func missingBucket(_ client: S3Client) async -> Bool {
        let name = bucket.configuration.bucket
        guard makesBucket else {
            findings.warning(
                "there is no bucket \(name) yet; the first upload makes it",
                """
                If the name in S3_BUCKET_NAME is right, run selfie doctor --make-bucket, which makes the bucket and checks the \
                rest. The keys need s3:CreateBucket for that; or make it by hand, private, in the region \
                \(client.configuration.region).
                """
            )
            return false
        }
        do throws(S3Error) {
            try await client.createBucket()
            findings.ok("made the bucket \(name)")
            return true
        } catch {
            findings.failed(advice.explanation(of: error, at: .make))
            return false
        }
    }
}

/// Advice for a bucket that shows photos to everybody.
enum PublicAccess {
    static let advice = """
        Close it now: at AWS, switch on all four settings of "Block Public Access" in the bucket's Permissions, and remove \
        public statements from its policy and ACL; elsewhere, make the bucket private in the store's console. Selfie \
        needs none of it: it hands out signed URLs that end by themselves. Buckets of railsauth were public, and each \
        photo's ACL may still be; Block Public Access overrides these, too.
        """
}
