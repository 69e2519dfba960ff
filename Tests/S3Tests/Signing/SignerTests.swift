import Foundation
import NIOHTTP1
import Testing

@testable import S3

/// The rules of the canonical form that AWS's examples do not touch.
struct SignerTests {
    @Test(
        "A query is sorted by its encoded names, then values",
        arguments: [
            ([QueryItem("b", "2"), QueryItem("a", "9"), QueryItem("b", "1")], "a=9&b=1&b=2"),
            ([QueryItem("a-b", "1"), QueryItem("a b", "2")], "a%20b=2&a-b=1"),
            ([QueryItem("a", "~"), QueryItem("a", "ü")], "a=%C3%BC&a=~"),
            ([QueryItem("a", "x/y=z&")], "a=x%2Fy%3Dz%26"),
            ([QueryItem("B"), QueryItem("a")], "B=&a="),
            ([QueryItem("a1", "x"), QueryItem("a", "y")], "a=y&a1=x"),
            ([], ""),
        ]
    )
    func query(items: [QueryItem], canonical: String) {
        let request = UnsignedRequest(method: "GET", encodedPath: "/", query: items, headers: [:])
        #expect(CanonicalRequest(request).query == canonical)
    }

    @Test("Header names are lowered and sorted, values trimmed, collapsed and joined")
    func headers() {
        let headers: HTTPHeaders = [
            "X-Amz-Meta-B": "  two   words\t ", "Host": "h", "x-amz-meta-b": "again", "Content-Type": "a",
        ]
        let canonical = CanonicalRequest(UnsignedRequest(method: "GET", encodedPath: "/", headers: headers))
        #expect(canonical.signedHeaders == "content-type;host;x-amz-meta-b")
        #expect(canonical.text.contains("\ncontent-type:a\nhost:h\nx-amz-meta-b:two words,again\n\n"))
    }

    @Test("A run of spaces is collapsed also before a combining mark, which makes one character with the last of them")
    func combiningMark() {
        let request = UnsignedRequest(method: "GET", encodedPath: "/", headers: ["a": "x  \u{301}y", "host": "h"])
        #expect(CanonicalRequest(request).text.contains("\na:x \u{301}y\n"))
    }

    @Test("A session token is signed in the header form")
    func sessionTokenInHeader() throws {
        let request = UnsignedRequest(method: "GET", encodedPath: "/", headers: ["Host": "h"])
        let signed = try SignerVectorTests.signer(sessionToken: "tok/en+=").sign(request, at: .now)
        #expect(signed.headers["x-amz-security-token"] == ["tok/en+="])
        #expect(signed.canonicalRequest.signedHeaders.hasSuffix(";x-amz-security-token"))
        #expect(signed.canonicalRequest.text.contains("\nx-amz-security-token:tok/en+=\n"))
    }

    @Test("A session token is signed in the query form")
    func sessionTokenInQuery() throws {
        let request = UnsignedRequest(method: "GET", encodedPath: "/", headers: ["Host": "h"])
        let signed = try SignerVectorTests.signer(sessionToken: "tok/en+=").presign(request, expires: 1, at: .now)
        #expect(signed.canonicalRequest.query.contains("&X-Amz-Security-Token=tok%2Fen%2B%3D"))
        #expect(signed.encodedQuery.hasPrefix(signed.canonicalRequest.query))
    }

    @Test(
        "A signing date is UTC, in whole seconds",
        arguments: [
            (0, "19700101T000000Z"), (1_369_353_600, "20130524T000000Z"), (1_709_251_199.999, "20240229T235959Z"),
        ]
    )
    func time(seconds: Double, timestamp: String) {
        let time = SigningTime(Date(timeIntervalSince1970: seconds))
        #expect(time.timestamp == timestamp)
        #expect(time.day == timestamp.prefix(8))
    }
}
