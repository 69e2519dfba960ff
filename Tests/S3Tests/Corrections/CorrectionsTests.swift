import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import S3

/// What a refusal teaches, without a network.
struct CorrectionsTests {
    static let date = Date(timeIntervalSince1970: 1_369_353_600)

    private static func facts(clockOffset: TimeInterval = 0, endpoint: String? = nil) throws -> StoreFacts {
        StoreFacts(
            configuration: try S3Configuration(bucket: "photos", region: "us-east-1", endpoint: endpoint),
            clockOffset: clockOffset
        )
    }

    private static func refusal(_ status: Int, code: String? = nil, headers: HTTPHeaders = [:]) -> S3Error {
        let text = code.map { "<Error><Code>\($0)</Code></Error>" } ?? ""
        return S3Error(
            S3Failure(
                status: HTTPResponseStatus(statusCode: status),
                headers: headers,
                document: ErrorDocument(.init(string: text))
            )
        )
    }

    @Test(
        "A region in the answer is where the bucket is",
        arguments: [
            (301, "PermanentRedirect"), (307, "TemporaryRedirect"), (400, "AuthorizationHeaderMalformed"),
        ]
    )
    func region(status: Int, code: String) throws {
        var corrections = Corrections(mayAsk: true)
        let error = Self.refusal(status, code: code, headers: ["x-amz-bucket-region": "eu-west-1"])
        let facts = try Self.facts()
        let correction = corrections.next(after: error, to: .PUT, with: facts, at: Self.date)
        guard case .address(let configuration) = correction else {
            Issue.record("\(String(describing: correction))")
            return
        }
        #expect(configuration.region == "eu-west-1")
        #expect(configuration.host == "photos.s3.eu-west-1.amazonaws.com")
        #expect(corrections.next(after: error, to: .PUT, with: facts, at: Self.date) == nil, "only once in a call")
    }

    @Test("Another store's endpoint stays, whatever the region")
    func otherEndpoint() throws {
        var corrections = Corrections(mayAsk: true)
        let error = Self.refusal(400, code: "AuthorizationHeaderMalformed", headers: ["x-amz-bucket-region": "auto"])
        let facts = try Self.facts(endpoint: "https://store.example.com")
        let correction = corrections.next(after: error, to: .PUT, with: facts, at: Self.date)
        guard case .address(let configuration) = correction else {
            Issue.record("\(String(describing: correction))")
            return
        }
        #expect(configuration.region == "auto")
        #expect(configuration.host == "photos.store.example.com")
    }

    @Test("AWS's own endpoint of the region moves with it, however it was given")
    func sameEndpoint() throws {
        let facts = try Self.facts(endpoint: "https://s3.us-east-1.amazonaws.com/")
        #expect(facts.configuration.moved(to: "cn-north-1")?.host == "photos.s3.cn-north-1.amazonaws.com.cn")
        #expect(facts.configuration.moved(to: "evil.example.com/") == nil)
    }

    @Test(
        "AWS's endpoint of another region, or of none, gives way to the bucket's own, even if the region was right",
        arguments: ["https://s3.us-west-2.amazonaws.com", "https://s3.amazonaws.com"],
        [(301, "PermanentRedirect"), (307, "TemporaryRedirect")]
    )
    func wrongEndpoint(endpoint: String, refusal: (status: Int, code: String)) throws {
        var corrections = Corrections(mayAsk: true)
        let error = Self.refusal(refusal.status, code: refusal.code, headers: ["x-amz-bucket-region": "us-east-1"])
        let facts = try Self.facts(endpoint: endpoint)
        let correction = corrections.next(after: error, to: .PUT, with: facts, at: Self.date)
        guard case .address(let configuration) = correction else {
            Issue.record("\(String(describing: correction))")
            return
        }
        #expect(configuration.region == "us-east-1")
        #expect(configuration.host == "photos.s3.us-east-1.amazonaws.com")
    }

    @Test(
        "The region that was signed for, and what is no region, teaches nothing",
        arguments: ["us-east-1", "a.b", "evil.example.com/", ""]
    )
    func uselessRegion(region: String) throws {
        var corrections = Corrections(mayAsk: true)
        let error = Self.refusal(301, code: "PermanentRedirect", headers: ["x-amz-bucket-region": region])
        let facts = try Self.facts()
        #expect(corrections.next(after: error, to: .PUT, with: facts, at: Self.date) == nil)
    }

    @Test(
        "An answer without a reason is followed by one question for it, and that by none",
        arguments: [(HTTPMethod.HEAD, 400), (.HEAD, 301), (.GET, 307), (.PUT, 301)]
    )
    func ask(method: HTTPMethod, status: Int) throws {
        let facts = try Self.facts()
        var corrections = Corrections(mayAsk: true)
        let error = Self.refusal(status)
        #expect(corrections.next(after: error, to: method, with: facts, at: Self.date) == .ask)
        #expect(corrections.next(after: error, to: method, with: facts, at: Self.date) == nil)
        var others = Corrections(mayAsk: false)
        #expect(others.next(after: error, to: method, with: facts, at: Self.date) == nil)
    }

    @Test("A clock that is off is corrected from the answer's date, once")
    func clock() throws {
        let headers: HTTPHeaders = ["Date": "Fri, 24 May 2013 02:00:00 GMT"]
        let error = Self.refusal(403, code: "RequestTimeTooSkewed", headers: headers)
        var corrections = Corrections(mayAsk: true)
        let facts = try Self.facts()
        #expect(corrections.next(after: error, to: .PUT, with: facts, at: Self.date) == .clock(7_200))
        #expect(corrections.next(after: error, to: .PUT, with: facts, at: Self.date) == nil)
    }

    @Test(
        "A bare 403 to HEAD is the clock's only when the clocks are more than 15 minutes apart",
        arguments: [("Fri, 24 May 2013 00:15:00 GMT", nil), ("Fri, 24 May 2013 00:15:01 GMT", 901)]
            as [(String, TimeInterval?)]
    )
    func bareClock(date: String, offset: TimeInterval?) throws {
        var corrections = Corrections(mayAsk: true)
        let error = Self.refusal(403, headers: ["Date": date])
        let correction = corrections.next(after: error, to: .HEAD, with: try Self.facts(), at: Self.date)
        #expect(correction == offset.map { .clock($0) })
        var others = Corrections(mayAsk: true)
        let facts = try Self.facts()
        #expect(others.next(after: error, to: .GET, with: facts, at: Self.date) == nil)
    }

    @Test("A clock that was corrected already is not corrected by the same again")
    func sameClock() throws {
        let headers: HTTPHeaders = ["Date": "Fri, 24 May 2013 02:00:00 GMT"]
        let error = Self.refusal(403, code: "RequestTimeTooSkewed", headers: headers)
        var corrections = Corrections(mayAsk: true)
        let facts = try Self.facts(clockOffset: 7_200)
        #expect(corrections.next(after: error, to: .PUT, with: facts, at: Self.date) == nil)
    }

    @Test(
        "Keys that have ended are replaced, once",
        arguments: ["ExpiredToken", "TokenRefreshRequired", "InvalidToken"]
    )
    func credentials(code: String) throws {
        var corrections = Corrections(mayAsk: true)
        let error = Self.refusal(400, code: code)
        let facts = try Self.facts()
        #expect(corrections.next(after: error, to: .PUT, with: facts, at: Self.date) == .credentials)
        #expect(corrections.next(after: error, to: .PUT, with: facts, at: Self.date) == nil)
    }

    @Test(
        "Other refusals are final",
        arguments: [
            (403, "SignatureDoesNotMatch"), (403, "AccessDenied"), (400, "InvalidArgument"), (404, "NoSuchBucket"),
            (503, "SlowDown"),
        ]
    )
    func others(status: Int, code: String) throws {
        var corrections = Corrections(mayAsk: true)
        let error = Self.refusal(status, code: code, headers: ["Date": "Fri, 24 May 2013 02:00:00 GMT"])
        let facts = try Self.facts()
        #expect(corrections.next(after: error, to: .PUT, with: facts, at: Self.date) == nil)
    }

    @Test("Of many calls with the same wrong value, the first corrects it")
    func first() throws {
        let facts = try Self.facts()
        let learned = LearnedFacts(configuration: facts.configuration)
        let moved = try #require(facts.configuration.moved(to: "eu-west-1"))
        let other = try #require(facts.configuration.moved(to: "eu-west-2"))
        learned.correct(\.configuration, to: moved, from: facts.configuration)
        learned.correct(\.configuration, to: other, from: facts.configuration)
        learned.correct(\.clockOffset, to: 1, from: 0)
        learned.correct(\.clockOffset, to: 2, from: 0)
        #expect(learned.current == StoreFacts(configuration: moved, clockOffset: 1))
    }
}
