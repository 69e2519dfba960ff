import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

/// The limits of pages of changes, each at it and one past it.
@Suite("Limits of changes", .timeLimit(.minutes(3)))
struct ChangeLimitTests {
    /// Writes 17 records, whose data takes 65,024 bytes each, or some more.
    private static func writeLarge(_ service: TestService, as member: TestMember, moreBytes: Int) async throws {
        // Beside the text, there are 14 bytes.
        let record = #"{"data":{"address":"\#(String(repeating: "x", count: 65_010 + moreBytes))"}}"#
        let body = "[\(Array(repeating: record, count: 17).joined(separator: ","))]"
        let answer = try await service.call("POST", "/api/records/houses", as: member, body)
        #expect(answer.status == 200, "\(answer.text.prefix(500))")
    }

    @Test("A page has 100 changes unless another number is asked for")
    func usualCount() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await service.addRows(101)
            let first = try await service.changes("", as: ada)
            #expect(first.changes.count == 100 && first.json["more"] as? Bool == true)
            let last = try await service.changes("?since=\(first.cursor)", as: ada)
            #expect(last.changes.count == 1 && last.json["more"] as? Bool == false)
        }
    }

    @Test("A page has changes of a MiB, of which each counts 512 bytes beside its data, and not one byte more")
    func bytes() async throws {
        try await TestService.runWithSchema { service in
            for (name, moreBytes, count) in [("ada", 0, 16), ("bob", 1, 15)] {
                let member = try await service.addMember(name)
                try await Self.writeLarge(service, as: member, moreBytes: moreBytes)
                let first = try await service.changes("?limit=500", as: member)
                #expect(first.changes.count == count && first.json["more"] as? Bool == true, "\(name)")
                let last = try await service.changes("?limit=500&since=\(first.cursor)", as: member)
                #expect(last.changes.count == 17 - count && last.json["more"] as? Bool == false, "\(name)")
            }
        }
    }

    @Test("With a filter of collections, 2,000 changes of a stream are examined, and the next page continues")
    func lookedAt() async throws {
        try await TestService.runWithSchema { service in
            for (name, photoCount, pages) in [("ada", 1_999, [1]), ("bob", 2_000, [0, 1])] {
                let member = try await service.addMember(name)
                try await service.addRows(photoCount, name: name)
                try await service.put("houses/\(name)", as: member, #"{"data":{"address":"a"}}"#)
                var (counts, since): ([Int], String) = ([], "")
                while counts.count < 5 {
                    let page = try await service.changes("?collections=houses\(since)", as: member)
                    #expect(page.status == 200, "\(page.text)")
                    counts.append(page.changes.count)
                    since = "&since=\(page.cursor)"
                    if page.json["more"] as? Bool == false { break }
                }
                #expect(counts == pages, "\(name)")
            }
        }
    }

    @Test("65 collections may be named, which are all that there can be, and photos; not one more")
    func collections() async throws {
        let names = (0..<64).map { "c\($0)" }
        let members = names.map { #""\#($0)":{"access":"private"}"# }
        try await TestService.runWithSchema(#"{"collections":{\#(members.joined(separator: ","))}}"#) { service in
            let ada = try await service.addMember("ada")
            try await service.put("c63/x", as: ada, #"{"data":{}}"#)
            let wanted = (names + ["photos"]).joined(separator: ",")
            #expect(try await service.changes("?collections=\(wanted)", as: ada).summaries == ["created c63 x"])
            let refused = try await service.changes("?collections=\(wanted),other", as: ada)
            #expect(refused.status == 400 && refused.code == "collections_invalid", "\(refused.text)")
        }
    }

    @Test("since has 8,192 characters at most")
    func cursorLength() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            for (count, code) in [(8_192, "since_invalid"), (8_193, "since_too_long")] {
                let text = String(repeating: "!", count: count)
                let refused = try await service.changes("?since=\(text)", as: ada)
                #expect(refused.status == 400 && refused.code == code, "\(count)")
            }
        }
    }
}
