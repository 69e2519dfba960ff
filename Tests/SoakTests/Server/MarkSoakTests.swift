import ConnectionTestSupport
import Foundation
import HTTPTypes
import NIOCore
import ServiceTestSupport
import Testing

@testable import SelfieWeb

@Suite("Texts that are slow to compare, in every place", .timeLimit(.minutes(30)))
struct MarkSoakTests {
    /// The marks of some scripts, those that are sorted last first, which is the most work.
    private static func marks(bytes: Int) -> String {
        let marks = (0x300..<0x700).compactMap(Unicode.Scalar.init)
            .filter { $0.properties.canonicalCombiningClass != .notReordered }
            .sorted { $0.properties.canonicalCombiningClass.rawValue > $1.properties.canonicalCombiningClass.rawValue }
        let count = bytes / 2 / marks.count
        return String(String.UnicodeScalarView(marks.flatMap { repeatElement($0, count: count) }))
    }

    private static let headers = [
        "Accept", "Accept-Encoding", "Authorization", "Content-Type", "Cookie", "Expect", "If-Match",
        "If-Modified-Since",
        "If-None-Match", "If-Range", "If-Unmodified-Since", "Last-Event-ID", "Origin", "Range", "Sec-Fetch-Site",
        "traceparent", "User-Agent", "X-Forwarded-For", "X-Forwarded-Proto", "X-Request-Id", "X-Unknown",
    ]

    @Test("No parameter, header or member of any call holds an event loop for more than 20 ms")
    func all() async throws {
        try await TestService.runWithSchema(settings: ["RATE_LIMITS": "off", "TRUSTED_PROXIES": "1"]) { service in
            let (token, meter) = (try await service.makeToken(), LoopMeter())
            var (worst, count) = (TimeAmount.zero, 0)
            for endpoint in Routes.endpoints {
                let credentials = Self.credentials(for: endpoint, token: token)
                for headers in credentials.isEmpty ? [[]] : [[], credentials] {
                    for request in Self.requests(to: endpoint) {
                        _ = meter.take()
                        _ = try? await service.send(
                            endpoint.method.rawValue,
                            request.target,
                            headers: headers + request.headers,
                            body: request.body
                        )
                        let time = meter.take()
                        (worst, count) = (max(worst, time), count + 1)
                        #expect(time <= .milliseconds(20), "\(endpoint.method) \(endpoint.path): \(request.what)")
                    }
                }
            }
            print("\(count) requests held an event loop for \(worst.nanoseconds / 1_000) µs at most")
            #expect(count > 1_000)
        }
    }

    private struct MarkedRequest {
        let what: String
        let target: String
        var headers: [(String, String)] = []
        var body: Data?
    }

    private static func requests(to endpoint: Endpoint) -> [MarkedRequest] {
        let path = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? "1" : String($0) }.joined(separator: "/")
        let encoded = marks(bytes: 4_500).formEncoded
        let marked = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? encoded : String($0) }.joined(separator: "/")
        var requests = [
            MarkedRequest(what: "the path", target: marked),
            MarkedRequest(what: "a name in the query", target: "\(path)?\(encoded)=1"),
        ]
        let names = endpoint.parameters.filter { $0.place != .path }.map(\.name)
        for name in names {
            requests.append(MarkedRequest(what: "\(name) in the query", target: "\(path)?\(name)=\(encoded)"))
        }
        let text = marks(bytes: 14_000)
        for name in headers {
            requests.append(MarkedRequest(what: name, target: path, headers: [(name, "a\(text)")]))
        }
        guard endpoint.method != .get else { return requests }
        let formText = marks(bytes: 5_000).formEncoded
        for name in names + [nil] {
            requests.append(
                MarkedRequest(
                    what: "\(name ?? "a name") in a form",
                    target: path,
                    headers: [("Content-Type", "application/x-www-form-urlencoded")],
                    body: Data((name.map { "\($0)=\(formText)" } ?? "\(formText)=1").utf8)
                )
            )
            let part = name.map { TestMultipart.Part(name: $0, Data(text.utf8)) }
            requests.append(
                MarkedRequest(
                    what: "\(name ?? "a name") in parts",
                    target: path,
                    headers: [("Content-Type", TestMultipart.contentType)],
                    body: TestMultipart.body([part ?? TestMultipart.Part(name: text, fileName: text, Data())])
                )
            )
        }
        let longest = endpoint.body == nil ? text : marks(bytes: 250_000)
        var bodies = names.map { ("\($0) in JSON", #"{"\#($0)":"\#(text)"}"#) }
        bodies.append(("a name in JSON", #"{"\#(longest)":1}"#))
        for member in ["id", "title", "first_name", "picture", "fields", "expires_at"] {
            bodies.append(("\(member) in JSON", #"{"data":{},"\#(member)":"\#(longest)"}"#))
        }
        bodies.append(("readers in JSON", #"{"data":{},"readers":["\#(longest)"]}"#))
        bodies.append(("a field in JSON", #"{"data":{"text":"\#(longest)"}}"#))
        bodies.append(("a field's name in JSON", #"{"data":{"\#(longest)":1}}"#))
        for (what, body) in bodies {
            requests.append(
                MarkedRequest(
                    what: what,
                    target: path,
                    headers: [("Content-Type", "application/json")],
                    body: Data(body.utf8)
                )
            )
        }
        return requests
    }

    private static func credentials(for endpoint: Endpoint, token: String) -> [(String, String)] {
        switch endpoint.authentication {
        case .public: []
        case .basic: [("Authorization", TestService.basic)]
        case .token, .checksItsOwnToken: [("Authorization", "Token token=\(token)")]
        case .ownPage: [("Sec-Fetch-Site", "same-origin")]
        case .cookie, .checksItsOwnCookie: [("Sec-Fetch-Site", "same-origin"), ("Cookie", "selfie=\(token)")]
        }
    }
}
