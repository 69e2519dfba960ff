/// The headers that calls depend on or answer with, each once.
extension Endpoint.Header {
    static let ifNoneMatch = Self(
        name: "If-None-Match",
        summary: "The `ETag` of the client's copy: 304 says that nothing has changed.",
        example: #""YWJj""#
    )
    static let ifMatch = Self(
        name: "If-Match",
        summary: "An `ETag`: the photo is sent only if it is that one.",
        example: #""YWJj""#
    )
    static let ifModifiedSince = Self(
        name: "If-Modified-Since",
        summary: "A date: 304 says that the photo is no younger.",
        example: "Sun, 22 Nov 2026 10:00:00 GMT"
    )
    static let ifUnmodifiedSince = Self(
        name: "If-Unmodified-Since",
        summary: "A date: the photo is sent only if it is no younger.",
        example: "Sun, 22 Nov 2026 10:00:00 GMT"
    )
    static let ifRange = Self(
        name: "If-Range",
        summary: "An `ETag` or a date: the range counts only if the photo is that one.",
        example: #""YWJj""#
    )
    static let range = Self(name: "Range", summary: "Which bytes to send (RFC 9110).", example: "bytes=0-1023")

    static let entityTag = Self(
        name: "ETag",
        summary: "Names this version, for `If-None-Match`.",
        example: #""YWJj""#,
        isAlwaysThere: true
    )
    static let pageTag = Self(
        name: entityTag.name,
        summary: "Names this version of the page. The line of text has none.",
        example: entityTag.example
    )
    static let nextPage = Self(
        name: "Link",
        summary: "With `limit`, the URL of the next page, if there is one (RFC 8288).",
        example: #"<https://selfie.example.com/api/get_photos?after=abc&limit=50>; rel="next""#
    )
    static let contentRange = Self(
        name: "Content-Range",
        summary: "Which bytes these are, and how many there are.",
        example: "bytes 0-1023/48213"
    )
    static let lastModified = Self(
        name: "Last-Modified",
        summary: "When the photo was uploaded.",
        example: "Sun, 22 Nov 2026 10:00:00 GMT"
    )
    static let location = Self(
        name: "Location",
        summary: "A URL of the bucket, which ends by itself.",
        example: "https://bucket.example.com/key?signature",
        isAlwaysThere: true
    )
    static let setCookie = Self(
        name: "Set-Cookie",
        summary: "The cookie of the session, or its removal.",
        example: "selfie=…; Path=/; HttpOnly; SameSite=Strict; Max-Age=86400",
        isAlwaysThere: true
    )
    static let clearSiteData = Self(
        name: "Clear-Site-Data",
        summary: "Has the browser forget the photos that it keeps.",
        example: #""cache""#,
        isAlwaysThere: true
    )
    static let requestID = Self(
        name: "X-Request-Id",
        summary: "Names this request in the log: the client's own, if it sent one.",
        example: "8d6bb1f9-5c4e-4f0e-9c53-1f8a6a6e5d11",
        isAlwaysThere: true
    )
    static let retryAfter = Self(
        name: "Retry-After",
        summary: "In how many seconds to try again.",
        example: "5"
    )
    static let authenticate = Self(
        name: "WWW-Authenticate",
        summary: "The kind of credential that is missing.",
        example: #"Token realm="Application""#
    )
    /// Those of a rate limit (draft-ietf-httpapi-ratelimit-headers-06).
    static let rateLimit = [
        Self(name: "RateLimit-Limit", summary: "How often the call is allowed in the window.", example: "20"),
        Self(name: "RateLimit-Remaining", summary: "How often it is still allowed.", example: "0"),
        Self(name: "RateLimit-Reset", summary: "In how many seconds the window ends.", example: "840"),
        Self(name: "RateLimit-Policy", summary: "The limit, and its window in seconds.", example: "20;w=900"),
    ]
}
