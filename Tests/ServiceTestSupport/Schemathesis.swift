import Foundation
import Postgres
import ProcessTestSupport

/// Runs of schemathesis, which tries the API by its own description.
package struct Schemathesis: Sendable {
    /// How many requests it makes up for each call and phase.
    let exampleCount: Int
    /// The collections whose own calls it leaves out.
    let skippedCollections: [String]
    /// The beginnings of other paths that it leaves out, such as `rest/`.
    let skippedPaths: [String]
    /// The kinds of requests that it makes up, with commas.
    let phases: String

    /// The calls with the API's credential.
    private static let basic = "api/(signup|signin|get_token)"
    /// The calls that end the session of the token, or the account.
    private static let ending = "(api/(clear_token|account|reset_password|sessions/)|rest/user/session)"
    /// The same with the gallery's cookie.
    private static let endingInGallery = "gallery/(signout|account|password|sessions/)"

    /// - Parameters:
    ///   - exampleCount: How many requests it makes up for each call and phase.
    ///   - skippedCollections: The collections whose own calls it leaves out.
    ///   - skippedPaths: The beginnings of other paths that it leaves out, such as `rest/`.
    ///   - phases: The kinds of requests that it makes up, with commas.
    package init(
        exampleCount: Int,
        skippedCollections: [String] = [],
        skippedPaths: [String] = [],
        phases: String = "examples,coverage,fuzzing,stateful"
    ) {
        self.exampleCount = exampleCount
        self.skippedCollections = skippedCollections
        self.skippedPaths = skippedPaths
        self.phases = phases
    }

    /// The caller, and the calls.
    package enum Caller: Sendable, CaseIterable {
        /// A caller without rights.
        case stranger
        /// A client with the API's credential, the calls that take it.
        case app
        /// A user, all other calls but those that end the session.
        case user
        /// A user, the calls that end the session: after the first, the token is an ended one.
        case leavingUser
        /// A user of the gallery, all of its calls but those that end the session.
        case galleryUser
        /// A user of the gallery, the calls that end the session.
        case leavingGalleryUser
    }

    private var skipped: String {
        (skippedCollections.map { "records/\($0)\\b" } + skippedPaths).map { "|\($0)" }.joined()
    }

    /// Tries all calls.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - caller: The caller.
    /// - Returns: What it found; nil when all is as the description says.
    /// - Throws: `ServerProcessError`, an error of Foundation's, or what making an account throws.
    package func findings(in service: TestService, as caller: Caller) async throws -> String? {
        var arguments = ["run", "\(service.origin)/openapi.json", "--max-examples", "\(exampleCount)", "--no-color"]
        arguments += ["--phases", phases]
        switch caller {
        case .stranger: break
        case .app:
            arguments += ["--auth", "\(TestService.apiName):\(TestService.apiPassword)"]
            arguments += ["--include-path-regex", Self.basic]
        case .user:
            let token = try await service.makeToken()
            arguments += ["--header", "Authorization: Bearer \(token)"]
            arguments += ["--header", "X-DreamFactory-Session-Token: \(token)"]
            try await service.postgres.write(
                "INSERT INTO role_members (role_id, user_id) SELECT roles.id, users.id FROM roles CROSS JOIN users"
            )
            arguments += ["--exclude-path-regex", "\(Self.basic)|\(Self.ending)|gallery/\(skipped)"]
        case .leavingUser:
            let token = try await service.makeToken()
            arguments += ["--header", "Authorization: Bearer \(token)"]
            arguments += ["--header", "X-DreamFactory-Session-Token: \(token)"]
            arguments += ["--include-path-regex", Self.ending]
        case .galleryUser:
            arguments += ["--header", "Cookie: selfie=\(try await service.makeToken())"]
            arguments += ["--include-path-regex", "gallery/", "--exclude-path-regex", Self.endingInGallery]
        case .leavingGalleryUser:
            arguments += ["--header", "Cookie: selfie=\(try await service.makeToken())"]
            arguments += ["--include-path-regex", Self.endingInGallery]
        }
        let outcome = try await PythonScript.runModule(
            "schemathesis.cli",
            arguments,
            environment: ["API_AUTH_PASSWORD": TestService.apiPassword],
            // Hundreds of examples of each collection's calls take half an hour on a slow machine.
            patience: .seconds(3_600)
        )
        if outcome.status == 0 { return nil }
        // What failed comes before pages of advice.
        let failures = outcome.output.range(of: "= FAILURES =").map { outcome.output[$0.lowerBound...] }
        return "\(failures?.prefix(6_000) ?? outcome.output.suffix(6_000))\n\(outcome.errors.suffix(1_000))"
    }
}
