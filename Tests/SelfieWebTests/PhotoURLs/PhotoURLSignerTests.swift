import Foundation
import NIOCore
import Testing

@testable import Encodings
@testable import SelfieWeb

@Suite("Signed photo URLs")
struct PhotoURLSignerTests {
    private static let secret = String(repeating: "secret", count: 6)
    private static let day = 86_400.0
    private let signer = PhotoURLSigner(secret: secret)
    /// Noon of a day.
    private let noon = Date(timeIntervalSince1970: 20_000 * day + day / 2)

    private func parts(_ target: String) throws -> (id: String, expires: String, signature: String) {
        let match = try #require(
            target.wholeMatch(of: /\/photos\/([^?]+)\?expires=(\d+)&signature=([-_A-Za-z0-9]{43})/)
        )
        return (String(match.1), String(match.2), String(match.3))
    }

    private func target(of id: String, at date: Date, series: Int = 0, by signer: PhotoURLSigner? = nil) -> String {
        var text = TextBuffer(capacity: 1)
        let urls = (signer ?? self.signer).day(of: date, origin: "", series: series)
        Array(id.utf8).withUnsafeBytes { PhotoURLWriter(urls).appendURL(of: $0, to: &text) }
        return text.string
    }

    @Test("A URL works until it ends, and not at its end")
    func lifetime() throws {
        let (id, expires, signature) = try parts(target(of: "abc123", at: noon))
        let end = try #require(TimeInterval(expires))
        func secondsLeft(at seconds: TimeInterval) -> Int? {
            let date = Date(timeIntervalSince1970: seconds)
            return signer.check(randomID: id, expires: expires, series: nil, signature: signature, at: date)?
                .secondsLeft
        }
        #expect(end == 20_002 * Self.day)
        #expect(secondsLeft(at: noon.timeIntervalSince1970) == Int(1.5 * Self.day))
        #expect(secondsLeft(at: end - 1) == 1)
        #expect(secondsLeft(at: end - 0.5) == nil)
        #expect(secondsLeft(at: end) == nil)
        #expect(secondsLeft(at: end + 1) == nil)
    }

    /// Made by Python's `hmac`: an issued URL must keep working after an upgrade.
    @Test("A URL is the one that it always was")
    func known() {
        #expect(
            target(of: "abc123", at: noon)
                == "/photos/abc123?expires=1728172800&signature=1ZKE-SsOqITUJ_87kMQQ2zTa6FQNfiG_icIzqHlNLfM"
        )
    }

    @Test("The tag of a list is never a photo's signature, and changes with the list, the origin and the day")
    func tags() throws {
        let id = "abc123"
        let (_, _, signature) = try parts(target(of: "abc123", at: noon))
        let tag = signer.day(of: noon, origin: "", series: 0).code(of: id)
        #expect(tag != signature)
        #expect(tag == signer.day(of: noon, origin: "", series: 0).code(of: id))
        #expect(tag != signer.day(of: noon, origin: "", series: 0).code(of: id + "0"))
        #expect(tag != signer.day(of: noon, origin: "", series: 1).code(of: id))
        #expect(tag != signer.day(of: noon, origin: "http://a", series: 0).code(of: id))
        #expect(tag != signer.day(of: noon + Self.day, origin: "", series: 0).code(of: id))
    }

    @Test("All URLs of a day are the same, and the next day's differ")
    func stability() {
        let first = target(of: "abc", at: Date(timeIntervalSince1970: 20_000 * Self.day))
        #expect(target(of: "abc", at: Date(timeIntervalSince1970: 20_001 * Self.day - 0.001)) == first)
        #expect(target(of: "abc", at: Date(timeIntervalSince1970: 20_001 * Self.day)) != first)
    }

    @Test("What a signer keeps of one day does not get into another day's URLs")
    func alternatingDays() {
        for days in [0, 1, 1, 0, 2, 0] {
            let date = noon + Double(days) * Self.day
            let fresh = PhotoURLSigner(secret: Self.secret)
            #expect(target(of: "abc", at: date) == target(of: "abc", at: date, by: fresh))
        }
    }

    @Test("A URL works for 24 to 48 hours", arguments: [(0, 48), (0.5, 36), (0.999, 24)])
    func lifetime(dayPart: Double, hours: Int) throws {
        let date = Date(timeIntervalSince1970: ((20_000 + dayPart) * Self.day).rounded(.down))
        let (id, expires, signature) = try parts(target(of: "abc", at: date))
        let url = signer.check(randomID: id, expires: expires, series: nil, signature: signature, at: date)
        #expect((hours * 3600...hours * 3600 + 120).contains(url?.secondsLeft ?? 0))
    }

    @Test("A URL has its series, which can't be changed, and the first series needs none")
    func series() throws {
        let second = target(of: "abc", at: noon, series: 2)
        let match = try #require(second.wholeMatch(of: /\/photos\/abc\?expires=(\d+)&series=2&signature=(.{43})/))
        let (expires, signature) = (String(match.1), String(match.2))
        func series(_ series: String?, of id: String = "abc") -> Int? {
            signer.check(randomID: id, expires: expires, series: series, signature: signature, at: noon)?.series
        }
        #expect(series("2") == 2)
        for other in [nil, "", "0", "1", "3", "02", "+2", "-2", "22", "2\0"] { #expect(series(other) == nil) }
        // The series is not mistaken for a part of the id.
        #expect(series(nil, of: "abc\0" + "2") == nil)
        let (_, firstExpires, firstSignature) = try parts(target(of: "abc", at: noon))
        for (text, isValid) in [(nil, true), ("0", true), ("1", false)] as [(String?, Bool)] {
            let url = signer.check(
                randomID: "abc",
                expires: firstExpires,
                series: text,
                signature: firstSignature,
                at: noon
            )
            #expect((url?.series == 0) == isValid)
        }
    }

    @Test("Nothing about a URL can be changed")
    func tampering() throws {
        let (id, expires, signature) = try parts(target(of: "abc123", at: noon))
        func isValid(_ id: String, _ expires: String, _ signature: String) -> Bool {
            signer.check(randomID: id, expires: expires, series: nil, signature: signature, at: noon) != nil
        }
        #expect(isValid(id, expires, signature))
        for other in ["abc124", "abc12", "abc1234", "ABC123", "", "\(expires)\nabc123"] {
            #expect(!isValid(other, expires, signature), "\(other)")
        }
        let later = String(try #require(Int(expires)) + 1)
        for other in [
            later, "", "-1", "x", "1e9", expires + "0", "0" + expires, "+" + expires, "99999999999999999999999",
        ] {
            #expect(!isValid(id, other, signature), "\(other)")
        }
        for other in [
            "", "A", "=", "%", String(signature.dropLast()), String(signature.reversed()), signature + "AAAA",
            signature + "=",
        ] {
            #expect(!isValid(id, expires, other), "\(other)")
        }
        for index in signature.indices {
            var flipped = signature
            flipped.replaceSubrange(index...index, with: signature[index] == "A" ? "B" : "A")
            #expect(!isValid(id, expires, flipped))
        }
    }

    @Test("No URL works for more than 48 hours, whoever signed it")
    func longest() throws {
        let (id, expires, signature) = try parts(target(of: "abc123", at: noon))
        let end = try #require(TimeInterval(expires))
        for (hours, isRight) in [(48.0, true), (48.1, false), (1_000, false)] {
            let date = Date(timeIntervalSince1970: end - hours * 3_600)
            let url = signer.check(randomID: id, expires: expires, series: nil, signature: signature, at: date)
            #expect((url != nil) == isRight, "\(hours)")
        }
    }

    @Test("Another secret signs otherwise")
    func otherSecret() throws {
        let (id, expires, signature) = try parts(target(of: "abc123", at: noon))
        let other = PhotoURLSigner(secret: Self.secret + "x")
        #expect(other.check(randomID: id, expires: expires, series: nil, signature: signature, at: noon) == nil)
    }

    @Test("An id that railsauth's data may hold is percent-encoded into one path segment")
    func encoding() throws {
        let (id, _, _) = try parts(target(of: "a/b c?d#e%ü", at: noon))
        #expect(id == "a%2Fb%20c%3Fd%23e%25%C3%BC")
    }
}
