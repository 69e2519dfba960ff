import Curl
import NIOCore
import NIOHTTP1

/// One small request to a source of credentials.
///
/// The answer's size is limited; cancel the task to limit its time.
struct CredentialExchange: Sendable {
    let curl: CurlClient

    /// The bytes of a 200 answer.
    func bytes(of request: CurlRequest) async throws(S3CredentialFailure) -> ByteBuffer {
        do {
            let deadlines = CurlDeadlines(end: .now + S3CredentialDeadlines().fetch)
            return try await curl.perform(request, deadlines: deadlines) { response in
                // The body of another status is not read, so that none of it gets into an error.
                guard response.status == .ok else { throw S3CredentialFailure.status(Int(response.status.code)) }
                return try await response.body.collect(upTo: S3CredentialDeadlines.maxAnswerBytes)
            }
        } catch let failure as S3CredentialFailure {
            throw failure
        } catch let failure as CurlFailure {
            switch failure.reason {
            case .tooLarge: throw .tooLarge
            case .silent, .overdue, .timedOut: throw .silent
            case let reason: throw .unreachable("\(reason)")
            }
        } catch {
            throw .unreachable("\(error)")
        }
    }
}
