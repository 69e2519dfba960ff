import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// One small request to a source of credentials.
///
/// The answer's size is limited; cancel the task to limit its time.
struct CredentialExchange: Sendable {
    let httpClient: HTTPClient

    /// The bytes of a 200 answer.
    func bytes(of request: HTTPClientRequest) async throws(S3CredentialFailure) -> ByteBuffer {
        do {
            let response = try await httpClient.execute(request, deadline: .distantFuture)
            // The body of another status is not read, so that none of it gets into an error.
            guard response.status == .ok else { throw S3CredentialFailure.status(Int(response.status.code)) }
            var bytes = ByteBuffer()
            for try await var chunk in response.body {
                bytes.writeBuffer(&chunk)
                guard bytes.readableBytes <= S3CredentialDeadlines.maxAnswerBytes else {
                    throw S3CredentialFailure.tooLarge
                }
            }
            return bytes
        } catch let failure as S3CredentialFailure {
            throw failure
        } catch {
            throw .unreachable(Self.describe(error))
        }
    }

    /// Short: AsyncHTTPClient's own text repeats a header that it refuses.
    private static func describe(_ error: any Error) -> String {
        (error as? HTTPClientError)?.shortDescription ?? "\(error)"
    }
}
