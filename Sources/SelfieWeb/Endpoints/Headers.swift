/// The headers that calls depend on or answer with, each once.
extension Endpoint.Header {
    static let ifNoneMatch = Self(
        name: "If-None-Match",
        summary: "The `ETag` of the client's copy. 304 means that nothing has changed.",
        example: #""YWJj""#
    )
    static let ifMatch = Self(
        name: "If-Match",
        summary: "An `ETag`. The photo is sent only if its `ETag` is the same.",
        example: #""YWJj""#
    )
    static let ifModifiedSince = Self(
        name: "If-Modified-Since",
        summary: "A date. 304 means that the photo is not newer.",
        example: "Sun, 22 Nov 2026 10:00:00 GMT"
    )
    static let ifUnmodifiedSince = Self(
        name: "If-Unmodified-Since",
        summary: "A date. The photo is sent only if it is not newer.",
        example: "Sun, 22 Nov 2026 10:00:00 GMT"
    )
    static let ifRange = Self(
        name: "If-Range",
        summary: "An `ETag` or a date. If the photo does not match, the range is ignored.",
        example: #""YWJj""#
    )
    static let range = Self(name: "Range", summary: "Which bytes to send (RFC 9110).", example: "bytes=0-1023")

    static let idempotencyKey = Self(
        name: "Idempotency-Key",
        summary: "Identifies this upload. Sent again with the same key, it makes no second photo.",
        example: "0b6e8f52-6f4a-4f4e-9a53-0d8a6c1f2b7e"
    )
    static let replayed = Self(
        name: "Idempotency-Replayed",
        summary: "`true` if an earlier upload with the same key has stored the photo.",
        example: "true"
    )

    static let entityTag = Self(
        name: "ETag",
        summary: "Identifies this version, for `If-None-Match`.",
        example: #""YWJj""#,
        isAlwaysThere: true
    )
    static let pageTag = Self(
        name: entityTag.name,
        summary: "Identifies this version of the page. The line of text has none.",
        example: entityTag.example
    )
    static let nextPage = Self(
        name: "Link",
        summary: "With `limit`, the URL of the next page, if there is one (RFC 8288).",
        example: #"<https://selfie.example.com/api/get_photos?after=abc&limit=50>; rel="next""#
    )
    static let contentRange = Self(
        name: "Content-Range",
        summary: "The range of these bytes, and the photo's length.",
        example: "bytes 0-1023/48213"
    )
    static let lastModified = Self(
        name: "Last-Modified",
        summary: "When the photo was uploaded.",
        example: "Sun, 22 Nov 2026 10:00:00 GMT"
    )
    static let location = Self(
        name: "Location",
        summary: "A URL of the bucket, which expires.",
        example: "https://bucket.example.com/key?signature",
        isAlwaysThere: true
    )
    static let fileName = Self(
        name: "Content-Disposition",
        summary: "The name under which to save the file (RFC 6266).",
        example: #"inline; filename="IMG_0042.jpg""#,
        isAlwaysThere: true
    )
    static let setCookie = Self(
        name: "Set-Cookie",
        summary: "The session's cookie, or its deletion.",
        example: "selfie=…; Path=/; HttpOnly; SameSite=Strict; Max-Age=86400",
        isAlwaysThere: true
    )
    static let clearSiteData = Self(
        name: "Clear-Site-Data",
        summary: "Makes the browser delete the photos in its cache.",
        example: #""cache""#,
        isAlwaysThere: true
    )
    static let requestID = Self(
        name: "X-Request-Id",
        summary: "Identifies this request in the log. A client may send its own.",
        example: "8d6bb1f9-5c4e-4f0e-9c53-1f8a6a6e5d11",
        isAlwaysThere: true
    )
    static let retryAfter = Self(name: "Retry-After", summary: "After how many seconds to try again.", example: "5")
    static let authenticate = Self(
        name: "WWW-Authenticate",
        summary: "The credential that is required.",
        example: #"Token realm="Application""#
    )
    /// Those of a rate limit (draft-ietf-httpapi-ratelimit-headers-06).
    static let rateLimit = [
        Self(name: "RateLimit-Limit", summary: "The number of calls allowed in the window.", example: "20"),
        Self(name: "RateLimit-Remaining", summary: "The number of calls still allowed.", example: "0"),
        Self(name: "RateLimit-Reset", summary: "After how many seconds the window ends.", example: "840"),
        Self(name: "RateLimit-Policy", summary: "The limit, and its window in seconds.", example: "20;w=900"),
    ]
}
