import SelfieWeb
import ServiceTestSupport

extension Mark {
    static func path(of sample: SampleRequest, _ text: MarkText) -> [Mark] {
        sample.openSegments.flatMap { position in
            // Four rows, which a name may have.
            MarkText.sizes(taken: 732).map { size in
                Mark("segment \(position + 1) of the path") { request in
                    request.path[position] = ""
                    request.path[position] = text.percentEncoded(bytes: size ?? request.headRoom)
                }
            }
        }
    }

    static func query(of sample: SampleRequest, _ text: MarkText) -> [Mark] {
        let parameters = sample.endpoint.parameters.filter { $0.location != .path }.map(\.name)
        var marks = MarkText.sizes(taken: 732).map { size in
            Mark("a name in the query") { request in
                request.encodedQuery = "\(text.percentEncoded(bytes: size ?? request.headRoom - 4))=1"
            }
        }
        for name in parameters {
            // Eight rows, which a text of 255 characters may have.
            marks += MarkText.sizes(taken: 1_448).map { size in
                Mark("\(name) in the query") { request in
                    request.leaveOut(name)
                    request.encodedQuery = ""
                    let marked = text.percentEncoded(bytes: size ?? request.headRoom - name.utf8.count - 2)
                    request.encodedQuery = "\(name)=\(marked)"
                }
            }
        }
        if parameters.contains("where") { marks += conditions(of: sample, text) }
        if parameters.contains("include") {
            marks.append(
                Mark("a name in include") { request in
                    request.encodedQuery = "include=house,\(text.percentEncoded(bytes: request.headRoom - 20))"
                }
            )
        }
        return marks
    }

    /// Values and names in `where`.
    private static func conditions(of sample: SampleRequest, _ text: MarkText) -> [Mark] {
        let values = sample.fields.flatMap { field, _ in
            MarkText.sizes(taken: 1_448).map { size in
                Mark("\(field) in where") { request in
                    let marked = text.percentEncoded(bytes: size ?? request.headRoom - 100)
                    request.encodedQuery = "where=\(#"{"\#(field)":""#.formEncoded)\(marked)\(#""}"#.formEncoded)"
                }
            }
        }
        let names = MarkText.sizes(taken: 732).map { size in
            Mark("a name in where") { request in
                let marked = text.percentEncoded(bytes: size ?? request.headRoom - 100)
                request.encodedQuery = "where=\(#"{""#.formEncoded)\(marked)\(#"":1}"#.formEncoded)"
            }
        }
        return values + names
    }

    /// The headers that something reads, with what stands before and behind a text.
    private static let headers: [(name: String, before: String, after: String)] = [
        ("Accept", "a", ""), ("Accept", "text/event-stream, a", ""), ("Accept", "text/html;q=", ""),
        ("Accept-Encoding", "a", ""), ("Accept-Encoding", "gzip;q=", ""), ("Accept-Encoding", "gzip, a", ""),
        ("Access-Control-Request-Headers", "a", ""), ("Access-Control-Request-Method", "a", ""),
        ("Authorization", "a", ""), ("Authorization", "Basic ", ""), ("Authorization", "Bearer ", ""),
        ("Authorization", "Token token=", ""), ("Connection", "close, a", ""), ("Content-Type", "a", ""),
        ("Content-Type", "application/json; charset=", ""), ("Content-Type", "application/json", ""),
        ("Content-Type", "multipart/form-data; boundary=", ""), ("Cookie", "a", ""), ("Cookie", "selfie=", ""),
        ("Expect", "a", ""), ("Expect", "100-continue", ""), ("Host", "a", ""), ("If-Match", "a", ""),
        ("If-Match", #""a"#, #"""#), ("If-Modified-Since", "Sun, 22 Nov 2026 ", ""), ("If-None-Match", "a", ""),
        ("If-None-Match", #"W/"a"#, #"""#), ("If-None-Match", "*", ""), ("If-Range", #""a"#, #"""#),
        ("If-Unmodified-Since", "Sun, 22 Nov 2026 ", ""), ("Last-Event-ID", "", ""), ("Last-Event-ID", "now", ""),
        ("Origin", "https://app.example.com", ""), ("Origin", "a", ""), ("Range", "bytes=0-1,", ""),
        ("Sec-Fetch-Site", "same-origin", ""), ("Upgrade", "a", ""), ("User-Agent", "a", ""),
        ("X-Forwarded-For", "", ""),
        ("X-Forwarded-For", "203.0.113.9, a", ""), ("X-Forwarded-Proto", "a", ""), ("X-Request-Id", "a", ""),
        ("X-Unknown", "a", ""), ("traceparent", "00-", ""), ("tracestate", "a=", ""),
    ]

    static func headers(of sample: SampleRequest, _ text: MarkText) -> [Mark] {
        let known = Set(headers.map { $0.name.lowercased() })
        let own = sample.endpoint.headers.map(\.name).filter { !known.contains($0.lowercased()) }
        var marks = (headers + own.map { ($0, "a", "") }).map { name, before, after in
            Mark("\(name): \(before)") { request in
                // Only events begin where it says.
                if name == "Last-Event-ID" { request.setHeader("Accept", "text/event-stream") }
                set(name, before, after, text, in: &request)
            }
        }
        if sample.credentials.contains(where: { $0.0 == "Cookie" }) {
            marks.append(
                Mark("a cookie beside the service's own") { request in
                    let own = request.credentials.first { $0.0 == "Cookie" }?.1 ?? ""
                    set("Cookie", "\(own); a=", "", text, in: &request)
                }
            )
        }
        return marks
            + ["Access-Control-Request-Headers", "Access-Control-Request-Method"].map { name in
                Mark("\(name) before a call of another origin") { request in
                    request.method = "OPTIONS"
                    request.setHeader("Origin", "https://app.example.com")
                    request.setHeader("Access-Control-Request-Method", "GET")
                    set(name, "a", "", text, in: &request)
                }
            }
    }

    private static func set(
        _ name: String,
        _ before: String,
        _ after: String,
        _ text: MarkText,
        in request: inout SampleRequest
    ) {
        request.setHeader(name, before + after)
        request.setHeader(name, before + text.raw(bytes: request.headRoom) + after)
    }
}
