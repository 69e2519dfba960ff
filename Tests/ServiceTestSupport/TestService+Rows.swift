import ConnectionTestSupport
package import Foundation
import Postgres
import TestSupport

/// A photo that a test has put into table and store itself.
package struct StoredPhoto: Sendable {
    package let randomID: String
    /// Path and query of its URL.
    package let target: String
    package let token: String
}

extension TestService {
    /// Makes an account with a session behind the service's back, without requests that short limits could refuse.
    ///
    /// - Parameter name: What e-mail and token begin with.
    /// - Returns: The token.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func addSession(name: String = "ada") async throws -> String {
        let token = "\(name)-token"
        try await postgres.write(
            """
            WITH added AS (
                INSERT INTO users (first_name, last_name, email, password_hash)
                VALUES ('Ada', 'Lovelace', \("\(name)@example.com"), 'none') RETURNING id
            )
            INSERT INTO sessions (user_id, token_digest, expires_at)
            SELECT id, sha256(convert_to(\(token), 'UTF8')), \(clock.now + 24 * 3600) FROM added
            """
        )
        return token
    }

    /// Adds rows of ready photos without objects behind the service's back.
    ///
    /// - Parameters:
    ///   - count: How many. Their ids end in a number from 1 on, and their titles are the same numbers.
    ///   - name: What the e-mail of their owner begins with.
    ///   - text: What follows the number in a title.
    /// - Throws: `PostgresError`.
    package func addRows(_ count: Int, name: String = "ada", text: String = "") async throws {
        try await postgres.write(
            """
            INSERT INTO photos (user_id, name, title, random_id, content_type, byte_count, state)
            SELECT users.id, 'photo', number || \(text), \(name) || repeat('x', 36) || lpad(number::text, 6, '0'), 'image/png', 100,
                'ready'
            FROM users, generate_series(1, \(count)) AS number WHERE email = \("\(name)@example.com") ORDER BY number
            """
        )
    }

    /// Puts a photo into table and store behind the service's back: an upload of many bytes takes a debug build its
    /// time.
    ///
    /// - Parameters:
    ///   - image: The photo's bytes.
    ///   - name: What e-mail and token of its owner, a new one, begin with.
    /// - Returns: Where it is.
    /// - Throws: `PostgresError`, an error of Foundation's, what a connection throws, or `UnexpectedAnswer`.
    package func addPhoto(_ image: Data, name: String = "ada") async throws -> StoredPhoto {
        let token = try await addSession(name: name)
        let randomID = String((name + String(repeating: "x", count: 43)).prefix(43))
        try await objects.write(image, key: randomID)
        try await postgres.write(
            """
            INSERT INTO photos (user_id, name, title, random_id, content_type, byte_count, state)
            SELECT id, 'photo', 'A title', \(randomID), 'image/png', \(image.count), 'ready' FROM users
            WHERE email = \("\(name)@example.com")
            """
        )
        let answer = try await list(token: token)
        guard let url = answer.jsonArray?.first?["image_url"] as? String, url.hasPrefix(origin) else {
            throw UnexpectedAnswer(answer: answer)
        }
        return StoredPhoto(randomID: randomID, target: String(url.dropFirst(origin.count)), token: token)
    }
}
