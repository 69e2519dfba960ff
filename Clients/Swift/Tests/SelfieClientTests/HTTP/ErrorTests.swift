import Foundation
import Testing

@testable import SelfieClient

@Suite("What a refusal means")
struct ErrorTests {
    private static func error(_ status: Int, _ code: String) -> SelfieError { .of(.refusal(status, code)) }

    private static func refusal(_ status: Int, _ code: String) -> SelfieError.Refusal {
        SelfieError.Refusal(status: status, code: code, message: "No.")
    }

    @Test(
        "Codes and statuses have a case each",
        arguments: [
            (401, "token_invalid", SelfieError.notSignedIn), (401, "token_expired", .notSignedIn),
            (401, "email_or_password_wrong", .emailOrPasswordWrong), (401, "password_wrong", .passwordWrong),
            (403, "email_unverified", .emailUnverified),
            (403, "account_disabled", .forbidden(refusal(403, "account_disabled"))), (401, "code_invalid", .codeWrong),
            (401, "api_credential_wrong", .appRefused),
            (401, "photo_not_found", .notFound(refusal(401, "photo_not_found"))),
            (400, "email_taken", .invalid(refusal(400, "email_taken"))),
            (403, "record_forbidden", .forbidden(refusal(403, "record_forbidden"))),
            (403, "photo_quota_reached", .quotaReached(refusal(403, "photo_quota_reached"))),
            (404, "record_not_found", .notFound(refusal(404, "record_not_found"))),
            (408, "request_timeout", .interrupted),
            (409, "record_id_taken", .conflict(refusal(409, "record_id_taken"))),
            (409, "upload_under_way", .unavailable(retryAfter: nil)),
            (410, "changes_database", .cursorEnded(refusal(410, "changes_database"))),
            (410, "upload_deleted", .notFound(refusal(410, "upload_deleted"))),
            (412, "record_version_differs", .versionDiffers(refusal(412, "record_version_differs"))),
            (413, "request_too_large", .tooLarge(refusal(413, "request_too_large"))),
            (415, "photo_format_unknown", .notAPhoto(refusal(415, "photo_format_unknown"))),
            (422, "idempotency_key_reused", .invalid(refusal(422, "idempotency_key_reused"))),
            (429, "too_many_requests", .tooManyRequests(retryAfter: nil)),
            (500, "internal_error", .unavailable(retryAfter: nil)),
            (418, "from_the_future", .invalid(refusal(418, "from_the_future"))),
        ]
    )
    func cases(status: Int, code: String, expected: SelfieError) {
        #expect(Self.error(status, code) == expected)
    }

    @Test(
        "An answer without a code is not the service's",
        arguments: [400, 401, 403, 404, 409, 412],
        [
            #"{"message":"No."}"#, #"{"message":"No.","code":""}"#, #"{"message":"No.","code":7}"#,
            #"{"code":"record_not_found"}"#, "<html>No.</html>", "",
        ]
    )
    func foreign(status: Int, body: String) {
        #expect(SelfieError.of(.json(body, status: status)) == .unexpectedAnswer(status: status))
    }

    @Test("An error of a proxy may pass, and its pause counts", arguments: [429, 500, 502, 503, 504])
    func proxy(status: Int) {
        let answer = TransportResponse.json(#"{"message":"No."}"#, status: status, headers: ["Retry-After": "7"])
        let error = SelfieError.of(answer)
        #expect(error.isTransient && error.retryAfter == .seconds(7) && answer.mayBeDone)
    }

    @Test("A message about several fields has a line for each")
    func lines() {
        let refusal = SelfieError.Refusal(
            status: 400,
            code: "email_taken",
            message: "email - has already been taken,password - is too short (minimum is 6 characters),"
        )
        #expect(
            SelfieError.invalid(refusal).localizedDescription
                == "email - has already been taken\npassword - is too short (minimum is 6 characters)"
        )
        let sentence = SelfieError.Refusal(status: 400, code: "x", message: "One, and two.")
        #expect(SelfieError.invalid(sentence).localizedDescription == "One, and two.")
    }

    @Test("Who can't sign in is told why")
    func signIn() {
        #expect(
            Self.error(403, "email_unverified").localizedDescription
                == "The e-mail address is not verified. Ask for a code, and sign in with it."
        )
        #expect(Self.error(403, "account_disabled").localizedDescription == "This account is disabled.")
        #expect(Self.error(403, "record_forbidden").localizedDescription == "You may not do this.")
    }

    @Test("Only those that pass by themselves are transient")
    func transient() {
        let all: [SelfieError] = [
            .offline, .interrupted, .unavailable(retryAfter: nil), .tooManyRequests(retryAfter: .seconds(1)),
        ]
        #expect(all.filter(\.isTransient) == all)
        let others: [SelfieError] = [
            .notSignedIn, .notSecure, .appRefused, .invalid(Self.refusal(400, "x")), .diskFull,
            .unexpectedAnswer(status: 200),
        ]
        #expect(others.filter(\.isTransient).isEmpty)
    }
}
