import Foundation
import HTTPTypes

@testable import SelfieWeb

/// The page about refusals, made from the endpoints' descriptions.
enum ErrorsPage {
    /// All refusals that there are, each code with a status once.
    static var refusals: [ServiceError] {
        // DreamFactory's routes show no codes.
        let endpoints = Routes.endpoints.filter { $0.topic != .dreamFactory }
        let all = endpoints.flatMap(\.allRefusals) + [.wrongURL, .methodNotAllowed]
        var seen: Set<String> = []
        return all.filter { seen.insert("\($0.status.code) \($0.code)").inserted }
            .sorted { ($0.status.code, $0.code) < ($1.status.code, $1.code) }
    }

    /// The refusals of parameters, by the end of their codes.
    private static let rules: [(end: String, meaning: String)] = [
        ("blank", "It is required, but empty."),
        ("invalid", "Its value is not allowed. The message usually says which values are."),
        ("taken", "Another account has it."),
        ("too_short", "It has too few characters. The message has the minimum."),
        ("too_long", "It has too many characters or bytes. The message has the maximum."),
        ("too_deep", "It has too many levels. The message has the maximum."),
        ("has_null", "It contains U+0000, which can't be stored."),
        ("number_out_of_range", "It contains a number beyond 64 bits."),
    ]

    /// The rule that a code is about; nil for a code with a row of its own.
    static func rule(of code: String) -> String? {
        guard ErrorTexts.all[code] == nil else { return nil }
        return rules.map(\.end).filter { code.hasSuffix("_\($0)") }.max { $0.count < $1.count }
    }

    /// The whole page.
    static var text: String {
        let own = refusals.filter { rule(of: $0.code) == nil }.map { refusal in
            let (meaning, remedy) = ErrorTexts.all[refusal.code] ?? ("", "")
            return "| `\(refusal.code)` | \(refusal.status.code) | \(meaning) | \(remedy) |"
        }
        let ofRules = rules.map { end, meaning in
            let codes = refusals.map(\.code).filter { rule(of: $0) == end }.map { "`\($0)`" }
            return "| `_\(end)` | \(meaning) | \(codes.joined(separator: ", ")) |"
        }
        return """
            # Errors

            An error is `{"status":<number>,"message":"<text>","code":"<word>"}`. `status` is the HTTP status. `message` is for people.
            Programs should use `code`, which never changes. If a program does not know a code, it should go by the status.
            Errors are never cached.

            This page is generated from the descriptions of the endpoints, and a test keeps it equal to them.
            [`/docs`](../README.md#endpoints) lists the codes of each call.

            ## Has the session ended?

            **Check the code, not just 401.** The session has ended only with `token_invalid` or `token_expired`. Then delete the token and
            ask for the password again. With any other 401, the session stays valid:

            - `password_wrong`: the old password is wrong, or the password that confirms a deletion.
            - `photo_not_found` with 401: there is no such photo, or it belongs to somebody else. railsauth's clients expect 401.
            - `email_or_password_wrong`: this call signed nobody in.
            - `code_invalid`: the code from a mail is wrong or too old.
            - `api_credential_wrong`: the app's own credential is wrong. Only a new build of the app helps.

            ## Codes

            | code | status | meaning | what a client should do |
            |---|---|---|---|
            \(own.joined(separator: "\n"))

            ## Codes of parameters

            All have status 400. The code is the name of the parameter, or of the body's member, and the rule that it breaks. If several
            parameters are invalid, the message lists all errors, each with a comma at its end. The code is that of the first. A client
            should show the message beside the field, and not send it again before the user has changed it.

            | ending | meaning | codes |
            |---|---|---|
            \(ofRules.joined(separator: "\n"))

            ## When to try again

            - **429** and **503** have `Retry-After`, in seconds. Wait that long, and a little longer each time.
            - **429**: nothing was done. You can repeat the request.
            - **408**, **500**, **503** and a broken connection: the change may or may not have been made. You can repeat a `PUT` of a record,
              and an upload with its `Idempotency-Key`. Before you repeat another `POST`, check whether the first one succeeded.
            - **412**: read the record again, apply the change to it, and send it with the new version.
            - **410**: start again without `since`.
            - **403** with `photo_quota_reached`, `record_quota_reached`, `inbox_full`, `reader_full`, `role_full` or `too_many_blocks`: the
              same request succeeds once there is room again. Somebody has to make room, so do not retry in a loop.
            - All others fail again until you change the request, or until what it is about has changed, such as a right or a record.

            """
    }
}
