import HTTPTypes
import Testing

@testable import S3
@testable import SelfieWeb

@Suite("Conditions that clients set")
struct PreconditionsTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"
    private static let later = "Sun, 06 Nov 1994 08:49:38 GMT"
    private let conditions = Preconditions(tag: EntityTag("abc"), lastModified: 784_111_777)

    private static let allTags: [(list: String, isWeak: Bool, isStrong: Bool)] = [
        (#""abc""#, true, true), (#"W/"abc""#, true, false), ("*", true, true), (" * ", true, true),
        (#""x", "abc""#, true, true), (#""x","abc","y""#, true, true), (#""x" ,\#t"abc""#, true, true),
        (#""a,b", "abc""#, true, true), (#"W/"x", W/"abc""#, true, false), (#", ,"abc""#, true, true),
        (#""ab""#, false, false), (#""abcd""#, false, false), (#""ABC""#, false, false), (#"w/"abc""#, false, false),
        ("abc", false, false), (#""abc"#, false, false), (#"abc""#, false, false), (#"'abc'"#, false, false),
        ("", false, false), (",", false, false), ("W/", false, false), (#"W/abc"#, false, false),
        (#""x" junk "abc""#, false, false), (#""x,"abc""#, false, false), (#""""#, false, false),
    ]

    @Test("A list of tags names the tag, weakly or strongly", arguments: allTags)
    func tags(list: String, isWeak: Bool, isStrong: Bool) {
        #expect(EntityTag("abc").isNamedWeakly(in: list) == isWeak)
        #expect(EntityTag("abc").isNamedStrongly(in: list) == isStrong)
        #expect(conditions.outcome([.ifNoneMatch: list]) == (isWeak ? .notModified : .proceed))
        #expect(conditions.outcome([.ifMatch: list]) == (isStrong ? .proceed : .failed))
    }

    private static let allOutcomes: [(headers: HTTPFields, outcome: Preconditions.Outcome)] = [
        ([:], .proceed),
        ([.ifModifiedSince: date], .notModified), ([.ifModifiedSince: later], .notModified),
        ([.ifModifiedSince: earlier], .proceed), ([.ifModifiedSince: "yesterday"], .proceed),
        ([.ifModifiedSince: ""], .proceed),
        ([.ifNoneMatch: #""x""#, .ifModifiedSince: date], .proceed),
        ([.ifNoneMatch: #""abc""#, .ifModifiedSince: earlier], .notModified),
        ([.ifUnmodifiedSince: date], .proceed), ([.ifUnmodifiedSince: later], .proceed),
        ([.ifUnmodifiedSince: earlier], .failed), ([.ifUnmodifiedSince: "never"], .proceed),
        ([.ifMatch: #""abc""#, .ifUnmodifiedSince: earlier], .proceed),
        ([.ifMatch: #""x""#, .ifNoneMatch: #""abc""#], .failed),
        ([.ifMatch: #""abc""#, .ifNoneMatch: #""abc""#], .notModified),
        ([.ifUnmodifiedSince: date, .ifModifiedSince: date], .notModified),
    ]

    @Test("Conditions count in the order of RFC 9110", arguments: allOutcomes)
    func outcomes(headers: HTTPFields, outcome: Preconditions.Outcome) {
        #expect(conditions.outcome(headers) == outcome)
    }

    @Test("Dates do not count where none is known", arguments: [earlier, date, later])
    func noDate(date: String) {
        let conditions = Preconditions(tag: EntityTag("abc"))
        #expect(conditions.outcome([.ifModifiedSince: date]) == .proceed)
        #expect(conditions.outcome([.ifUnmodifiedSince: date]) == .proceed)
        #expect(!conditions.allowsRange([.ifRange: date]))
    }

    @Test(
        "A part is given only of the version that If-Range names",
        arguments: [
            (#""abc""#, true), (date, true), (#"W/"abc""#, false), (#""x""#, false), (earlier, false), (later, false),
            ("*", false), (#""x", "abc""#, false), ("", false), ("abc", false),
        ]
    )
    func ifRange(version: String, allows: Bool) {
        #expect(conditions.allowsRange([.ifRange: version]) == allows)
    }

    @Test("Without If-Range a part is given")
    func noIfRange() {
        #expect(conditions.allowsRange([:]))
    }
}
