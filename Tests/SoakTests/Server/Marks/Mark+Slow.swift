import Foundation
import SelfieWeb
import ServiceTestSupport

extension Mark {
    /// The largest requests that take long for another reason than one text.
    static func slow(in sample: SampleRequest) -> [Mark] {
        queries(of: sample) + (sample.endpoint.body == nil ? smallBodies : largeBodies(of: sample))
    }

    private static func queries(of sample: SampleRequest) -> [Mark] {
        let names = [
            Mark("names of 255 bytes in the query") { request in
                let pair = MarkText.names(1)[0].formEncoded
                let count = request.headRoom / (pair.utf8.count + 3)
                request.encodedQuery = MarkText.names(count).map { "\($0.formEncoded)=1" }.joined(separator: "&")
            },
            Mark("short names in the query") { request in
                request.encodedQuery = (0..<256).map { "n\($0)=1" }.joined(separator: "&")
            },
        ]
        return names
            + sample.endpoint.parameters.filter { $0.location != .path }.map(\.name).map { name in
                Mark("commas in \(name)") { request in
                    request.leaveOut(name)
                    let words = (0..<(request.headRoom - 100) / 6).map { "w\(1_000 + $0 % 9_000)," }
                    request.encodedQuery = "\(name)=\(words.joined())"
                }
            }
    }

    // MARK: Bodies with parameters

    private static let smallBodies = [
        Mark("names of 255 bytes in a form") { request in
            let body = MarkText.names(63).map { "\($0)=1" }.joined(separator: "&")
            request.payload = (SampleRequest.form, Data(body.utf8))
        },
        Mark("short names in a form") { request in
            request.payload = (SampleRequest.form, Data((0..<256).map { "n\($0)=1" }.joined(separator: "&").utf8))
        },
        Mark("separators in a form") { request in
            request.payload = (SampleRequest.form, Data(String(repeating: "&", count: 16_000).utf8))
        },
        Mark("names of 255 bytes in parts") { request in
            let parts = MarkText.names(40).map { TestMultipart.Part(name: $0, Data("1".utf8)) }
            request.payload = (TestMultipart.contentType, TestMultipart.body(parts))
        },
        json("names of 255 bytes", object(of: MarkText.names(60))),
        json("short names", object(of: (0..<1_900).map { "\($0)" })),
        json("numbers", #"{"title":\#(numbers(8_000))}"#),
        json("arrays in each other", #"{"title":\#(nested(127))}"#),
    ]

    private static func json(_ what: String, _ text: String) -> Mark {
        Mark("\(what) in JSON") { $0.payload = (SampleRequest.json, Data(text.utf8)) }
    }

    // MARK: Bodies that are JSON alone

    private static func largeBodies(of sample: SampleRequest) -> [Mark] {
        let isRecord = !sample.fields.isEmpty
        let member = isRecord ? "data" : "fields"
        // About as many as the body has room for, and as many as are taken.
        let values =
            isRecord
            ? [
                ("names of 255 bytes", object(of: MarkText.names(990))),
                ("a few names of 255 bytes", object(of: MarkText.names(200))),
                ("125,000 numbers", #"{"any":\#(numbers(125_000))}"#),
                ("30,000 numbers", #"{"any":\#(numbers(30_000))}"#),
                ("30,000 short names", object(of: (0..<30_000).map { String($0, radix: 36) })),
                ("6,000 short names", #"{"any":\#(object(of: (0..<6_000).map { String($0, radix: 36) }))}"#),
                ("arrays in each other", #"{"any":\#(repeated(nested(100), count: 1_200))}"#),
                ("escapes", #"{"any":"\#(String(repeating: #"\""#, count: 125_000))"}"#),
            ]
            : [
                ("names of 255 bytes", object(of: MarkText.names(110))),
                ("numbers", #"{"a":\#(numbers(16_000))}"#),
                ("short names", object(of: (0..<3_500).map { String($0, radix: 36) })),
                ("arrays in each other", #"{"a":\#(nested(120))}"#),
            ]
        return values.flatMap { what, value in
            let one = Mark("\(what) in \(member)") { request in
                request.fields = []
                SampleRequest.set(member, to: value, in: &request.members)
            }
            guard sample.takesMany else { return [one] }
            let many = Mark("\(what) in \(member) of many records") { request in
                one.put(&request)
                request.repeatObject()
            }
            return [one, many]
        } + (sample.takesMany ? arrays : [])
    }

    /// Arrays of 8 MiB that are no records.
    private static let arrays = [
        json("empty objects", "[\(String(repeating: "{},", count: 2_796_000)){}]"),
        json("space", "[\(String(repeating: " ", count: 8_388_000))]"),
        json("brackets", repeated(nested(131_000), count: 31)),
        json("quotes", "[\(String(repeating: #""","#, count: 2_796_000))1]"),
    ]

    // MARK: Values

    /// An object with these members.
    private static func object(of names: [String]) -> String { SampleRequest.object(names.map { ($0, "1") }) }

    private static func numbers(_ count: Int) -> String { repeated("1", count: count) }

    /// An array of values that are all the same.
    private static func repeated(_ value: String, count: Int) -> String {
        "[\(repeatElement(value, count: count).joined(separator: ","))]"
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
}
