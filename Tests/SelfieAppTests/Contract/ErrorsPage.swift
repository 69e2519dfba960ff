import Foundation
import HTTPTypes

@testable import SelfieWeb

/// The page about refusals, made from the endpoints' descriptions.
enum ErrorsPage {
    /// All refusals that there are, each code with a status once.
    static var refusals: [ServiceError] {
        let all = Routes.endpoints.flatMap(\.allRefusals) + [.wrongURL, .methodNotAllowed]
        var seen: Set<String> = []
        return all.filter { seen.insert("\($0.status.code) \($0.code)").inserted }
            .sorted { ($0.status.code, $0.code) < ($1.status.code, $1.code) }
    }

    /// The refusals of parameters, by the end of their codes.
    private static let rules: [(end: String, meaning: String)] = [
        ("blank", "It is needed, and is empty."),
        ("invalid", "Its value is not allowed. The message mostly says what is."),
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
            let (meaning, advice) = ErrorTexts.all[refusal.code] ?? ("", "")
            return "| `\(refusal.code)` | \(refusal.status.code) | \(meaning) | \(advice) |"
        }
        let ofRules = rules.map { end, meaning in
            let codes = refusals.map(\.code).filter { rule(of: $0) == end }.map { "`\($0)`" }
            return "| `_\(end)` | \(meaning) | \(codes.joined(separator: ", ")) |"
        }
        return """
            # Errors

            A refusal is `{"status":<number>,"message":"<text>","code":"<word>"}`. The status is that of the answer. The message is for
            people. The code never changes, so programs go by it. A code that a program does not know means what its status means.
            No refusal may be cached.

            This page is made from the descriptions that the service checks its answers by, and a test keeps it equal to them.
            [`/docs`](../README.md#endpoints) lists the codes of each call.

            ## Has the session ended?

            **Go by the code, and not by 401.** The session has ended with `token_invalid` or `token_expired`, and with nothing else: drop
            the token and ask for the password again. Any other 401 leaves the session as it is:

            - `password_wrong`: the old password of a change, or that of a deletion, is wrong.
            - `photo_not_found` with 401: another's photo, or none. railsauth's clients know it so.
            - `email_or_password_wrong`: nobody was signed in by this call.
            - `api_credential_wrong`: the app's own credential is wrong. Only a new build of the app helps.

            ## Codes

            | code | status | what it means | what a client does |
            |---|---|---|---|
            \(own.joined(separator: "\n"))

            ## Codes of parameters

            All have status 400. The code is the name of the parameter, or of the member of a body, and the rule that it breaks. With
            several complaints, the message has them all, each with a comma at its end, and the code is that of the first. A client
            shows the message beside the field, and sends nothing again before its user has changed it.

            | end | what it means | codes |
            |---|---|---|
            \(ofRules.joined(separator: "\n"))

            ## When to try again

            - **429** and **503** have `Retry-After`, in seconds. Wait so long, and a little longer each time.
            - **408**, **500** and a connection that broke off: try again after some seconds. Whether a change was made is not known then.
              A `PUT` of a record may be sent again as it is. Before another upload or `POST`, look whether the first one is there.
            - **412**: read the record again, make the change again on what is there now, and send it with the new version.
            - **410**: begin again without `since`.
            - **403** with `photo_quota_reached`, `record_quota_reached`, `inbox_full`, `reader_full`, `role_full` or `too_many_blocks`: the
              same request is taken when there is room again. Somebody has to make it, so do not try in a loop.
            - Anything else is refused again until the request is another one, or what it is about has changed, such as a right or a
              record.

            """
    }
}
