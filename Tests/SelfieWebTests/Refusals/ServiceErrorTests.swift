import Budgets
import HTTPTypes
import ObjectStore
import Testing

@testable import SelfieAccounts
@testable import SelfiePhotos
@testable import SelfieWeb

@Suite("How errors look")
struct ServiceErrorTests {
    @Test("Each error of the domain has its status and text")
    func domain() {
        let limit = RateLimitExceeded(name: .signInPerAccount, limit: RateLimit(3, per: 60), secondsLeft: 7)
        let validationErrors = [
            ValidationError(.fullName, .blank), ValidationError(.email, .taken),
            ValidationError(.title, .tooLong(maxCharacters: 255)),
            ValidationError(.password, .tooShort(minCharacters: 6)), ValidationError(.password, .tooManyBytes(max: 72)),
            ValidationError(.fileName, .invalid), ValidationError(.image, .blank),
        ]
        let expected: [(any Error, Int, String)] = [
            (AccountError.disabled, 403, "This account is disabled"),
            (SessionError.ended, 401, "HTTP Token: Access denied."),
            (PhotoError.unknownFormat, 415, "image - is not a JPEG, PNG, GIF, WebP, HEIC or AVIF photo,"),
            (PhotoError.givenUp, 503, "The service is not available at the moment. Please try again later!"),
            (TooBusy.holder(limit: "X_PER_USER"), 429, "Too many requests. Please try again later!"),
            (TooBusy.everyone(limit: "X"), 503, "The service is not available at the moment. Please try again later!"),
            (limit, 429, "Too many requests. Please try again later!"),
            (ObjectStoreError.invalidKey, 503, "The service is not available at the moment. Please try again later!"),
            (
                InvalidInput(validationErrors: validationErrors), 400,
                "full_name - can't be blank,email - has already been taken,"
                    + "title - is too long (maximum is 255 characters),"
                    + "password - is too short (minimum is 6 characters),"
                    + "password - is too long (maximum is 72 bytes),name - is invalid,"
                    + "image - can't be blank,"
            ),
            (CancellationError(), 499, "The client has left"),
            (UnknownError(), 500, "Something went wrong. Please try again later!"),
        ]
        for (error, status, message) in expected {
            let refusal = ServiceError(error)
            #expect(refusal.status.code == status, "\(error)")
            #expect(refusal.message == message, "\(error)")
        }
        #expect(ServiceError(limit).headers[.retryAfter] == "7")
        #expect(ServiceError(PhotoError.givenUp).headers[.retryAfter] == "5")
    }

    private struct UnknownError: Error {}

    @Test("A refusal for want of memory has a name in the metrics")
    func memoryNames() {
        let permits = WebPermits()
        for memory in [permits.answers, permits.cachedLists, permits.recordBodies] {
            let holder = #expect(throws: TooBusy.self) { try memory.acquire(1 << 40, for: 1) }
            #expect(holder.flatMap { RefusingLimit.name(of: $0) } == "MEMORY_PER_USER")
        }
        #expect(RefusingLimit.name(of: TooBusy.everyone(limit: "MEMORY")) == "MEMORY")
    }
}
