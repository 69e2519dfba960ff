import Postgres
import Renderer

/// The table `renditions`: small pictures of photos.
extension PhotoStore {
    /// How long a process may take to make one, before another may take over: longer than the renderer and a put take.
    static let maxRenditionSeconds = 60
    /// The pauses before another attempt grow from the first to the second.
    static let renditionBackOffSeconds = 30...3_600

    /// Finds a photo and the state of its small picture.
    ///
    /// Nil if its owner's account is disabled.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id. It holds no NUL, which PostgreSQL's text can't hold.
    ///   - size: The size.
    /// - Returns: nil when there is no such photo to serve.
    /// - Throws: `PostgresError`.
    package func sizedPhoto(_ randomID: String, _ size: RenditionSize) async throws -> SizedPhoto? {
        let key = Array("\(size.rawValue):\(randomID)".utf8)
        guard let row = try await postgres.lookUp(Self.sizedPhotoByID, key: key) else { return nil }
        let original = try Self.servedPhoto(randomID, row)
        let longerSide: Int? = try row.decodeIfPresent("longer_side")
        let rendition: SizedPhoto.Rendition
        switch try row.decodeIfPresent("rendition_state", as: String.self) {
        case "ready": rendition = .ready(try original.replaced(byRendition: row))
        case "original": rendition = .original
        case _ where longerSide ?? .max <= size.longerSide: rendition = .original
        case "pending" where try row.decode("is_waiting"): rendition = .pending
        case "failed" where try row.decode("is_waiting"): rendition = .failed(isFinal: try row.decode("is_final"))
        default: rendition = .missing
        }
        return SizedPhoto(original: original, userID: try row.decode("user_id"), rendition: rendition)
    }

    static let sizedPhotoByID = PostgresLookup(
        columns: """
            \(servedColumns), photos.user_id::bigint AS user_id, greatest(width, height)::bigint AS longer_side,
            renditions.state AS rendition_state, renditions.object_key AS rendition_key,
            renditions.content_type AS rendition_type, renditions.byte_count AS rendition_bytes,
            renditions.digest AS rendition_digest,
            coalesce(renditions.due_at, 'infinity') > now() AT TIME ZONE 'UTC' AS is_waiting,
            renditions.due_at IS NULL AS is_final
            """,
        source: """
            FROM (SELECT convert_from(asked.key, 'UTF8') COLLATE "default" AS text) AS wanted
            JOIN photos ON random_id = substr(wanted.text, strpos(wanted.text, ':') + 1)
            JOIN users ON users.id = photos.user_id LEFT JOIN photo_libraries ON photo_libraries.user_id = users.id
            LEFT JOIN renditions ON photo_id = photos.id AND size = split_part(wanted.text, ':', 1)
            WHERE photos.state <> 'pending' AND disabled_at IS NULL
            """
    )

    /// The right to make a small picture, for one minute.
    struct RenditionClaim: Sendable {
        let photoID: Int
        let size: RenditionSize
        /// Names the small picture's object.
        let key: String
        /// Names the original's object.
        let originalKey: String
        /// Another attempt may have begun after the minute.
        let attempt: Int
    }

    /// Claims a small picture that nobody makes.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - size: The size.
    /// - Returns: nil when it was made, another process makes it, it can't be made now, or the photo is small or gone.
    /// - Throws: `PostgresError`.
    func claimRendition(of randomID: String, _ size: RenditionSize) async throws -> RenditionClaim? {
        let query: PostgresQuery = """
            WITH photo AS MATERIALIZED (
                SELECT id, random_id, object_key FROM photos WHERE random_id = \(randomID) AND state <> 'pending'
                    AND coalesce(greatest(width, height) > \(size.longerSide), true)
                FOR KEY SHARE
            ), claimed AS (
                INSERT INTO renditions AS old (photo_id, size, object_key, state, due_at)
                SELECT id, \(size.rawValue), 'renditions/' || random_id || '/' || \(size.rawValue)::text, 'pending',
                    now() AT TIME ZONE 'UTC' + make_interval(secs => \(Self.maxRenditionSeconds))
                FROM photo
                ON CONFLICT (photo_id, size) DO UPDATE SET state = 'pending', due_at = excluded.due_at,
                    attempts = old.attempts + 1
                WHERE old.state IN ('pending', 'failed') AND old.due_at <= now() AT TIME ZONE 'UTC'
                RETURNING photo_id, object_key, attempts
            )
            SELECT photo_id::bigint AS photo_id, claimed.object_key AS key, attempts::bigint AS attempts,
                coalesce(photo.object_key, random_id)::text AS original_key
            FROM claimed JOIN photo ON photo.id = photo_id
            """
        let rows = try await postgres.withConnection { try await $0.query(query) }
        return try rows.first.map { row in
            RenditionClaim(
                photoID: try row.decode("photo_id"),
                size: size,
                key: try row.decode("key"),
                originalKey: try row.decode("original_key"),
                attempt: try row.decode("attempts")
            )
        }
    }

    /// Whether a process makes a small picture at the moment.
    ///
    /// - Throws: `PostgresError`.
    func isRenditionPending(of randomID: String, _ size: RenditionSize) async throws -> Bool {
        guard case .pending? = try await sizedPhoto(randomID, size)?.rendition else { return false }
        return true
    }

    /// Notes that a small picture is stored.
    ///
    /// If its photo was deleted meanwhile, the deletion of the object is recorded again.
    ///
    /// - Throws: `PostgresError`.
    func finish(_ claim: RenditionClaim, contentType: String, byteCount: Int, digest: String) async throws {
        try await postgres.write(
            """
            WITH finished AS (
                UPDATE renditions SET state = 'ready', content_type = \(contentType), byte_count = \(byteCount),
                    digest = \(digest), reason = NULL, due_at = NULL
                WHERE \(part: Self.isHeld(claim)) RETURNING photo_id
            )
            INSERT INTO object_deletions (random_id, due_at)
            SELECT \(claim.key), now() AT TIME ZONE 'UTC' + make_interval(secs => \(Self.settlingSeconds))
            WHERE NOT EXISTS (SELECT FROM finished)
                AND NOT EXISTS (SELECT FROM renditions WHERE object_key = \(claim.key))
            ON CONFLICT (random_id) DO UPDATE SET due_at = excluded.due_at, attempts = 0
            """
        )
    }

    /// Notes that the photo is its own small picture.
    ///
    /// - Throws: `PostgresError`.
    func finishWithOriginal(_ claim: RenditionClaim) async throws {
        try await postgres.write(
            "UPDATE renditions SET state = 'original', due_at = NULL, reason = NULL WHERE \(part: Self.isHeld(claim))"
        )
    }

    /// Notes why a small picture was not made.
    ///
    /// - Parameters:
    ///   - claim: The claim.
    ///   - reason: A word.
    ///   - isFinal: Whether it is never tried again.
    /// - Throws: `PostgresError`.
    func fail(_ claim: RenditionClaim, reason: String, isFinal: Bool) async throws {
        let pauses = Self.renditionBackOffSeconds
        try await postgres.write(
            """
            UPDATE renditions SET state = 'failed', reason = \(reason), due_at = CASE WHEN NOT \(isFinal) THEN
                now() AT TIME ZONE 'UTC' + make_interval(secs =>
                    least(\(pauses.upperBound), \(pauses.lowerBound) * 2 ^ least(attempts - 1, 10))) END
            WHERE \(part: Self.isHeld(claim))
            """
        )
    }

    /// Gives a claim back: the next one who asks may try again at once.
    ///
    /// - Parameters:
    ///   - claim: The claim.
    ///   - reason: A word.
    /// - Throws: `PostgresError`.
    func release(_ claim: RenditionClaim, reason: String) async throws {
        try await postgres.write(
            """
            UPDATE renditions SET state = 'failed', reason = \(reason), due_at = now() AT TIME ZONE 'UTC',
                attempts = attempts - 1
            WHERE \(part: Self.isHeld(claim))
            """
        )
    }

    private static func isHeld(_ claim: RenditionClaim) -> PostgresQuery {
        """
        photo_id = \(claim.photoID) AND size = \(claim.size.rawValue) AND state = 'pending'
            AND attempts = \(claim.attempt)
        """
    }

    /// Notes that the object of a small picture is missing, so that it is made again.
    ///
    /// - Parameter key: Names the object.
    /// - Returns: Whether there was one.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func forgetRendition(key: String) async throws -> Bool {
        try await postgres.write(
            """
            UPDATE renditions SET state = 'failed', reason = 'lost', due_at = now() AT TIME ZONE 'UTC'
            WHERE object_key = \(key) AND state = 'ready'
            """
        ) == 1
    }

    /// What there is of a photo's small pictures.
    package struct RenditionState: Sendable, Encodable {
        package let size: String
        /// `pending`, `ready`, `original` or `failed`.
        package let state: String
        /// Why the last attempt failed.
        package let reason: String?
        package let byteCount: Int?
        package let attempts: Int
        /// Such as `2026-11-22 10:00:00`, in UTC; nil when nothing will be tried.
        package let dueAt: String?
    }

    /// The small pictures of a photo, the smallest first.
    ///
    /// - Throws: `PostgresError`.
    package func renditions(of randomID: String) async throws -> [RenditionState] {
        try await postgres.read(
            """
            SELECT size, renditions.state, reason, renditions.byte_count, attempts::bigint AS attempts,
                to_char(due_at, 'YYYY-MM-DD HH24:MI:SS') AS due_at
            FROM renditions JOIN photos ON photos.id = photo_id WHERE random_id = \(randomID) ORDER BY size DESC
            """
        ).map { row in
            RenditionState(
                size: try row.decode("size"),
                state: try row.decode("state"),
                reason: try row.decodeIfPresent("reason"),
                byteCount: try row.decodeIfPresent("byte_count"),
                attempts: try row.decode("attempts"),
                dueAt: try row.decodeIfPresent("due_at")
            )
        }
    }

    /// How many small pictures can't be made, or not now, by the reason.
    ///
    /// - Throws: `PostgresError`.
    package func failedRenditionCounts() async throws -> [String: Int] {
        try await postgres.read(
            "SELECT reason, count(*) AS count FROM renditions WHERE state = 'failed' GROUP BY reason"
        ).reduce(into: [:]) { counts, row in
            counts[try row.decodeIfPresent("reason") ?? "", default: 0] += try row.decode("count", as: Int.self)
        }
    }
}
