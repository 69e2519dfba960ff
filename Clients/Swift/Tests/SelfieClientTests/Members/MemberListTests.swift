import Foundation
import SelfieTesting
import Testing

@testable import SelfieClient

@Suite("Lists of members")
struct MemberListTests {
    private static func page(_ ids: [String], next: String?) -> TransportResponse {
        let members = ids.map { #"{"id":"\#($0)","first_name":"\#($0)","last_name":""}"# }.joined(separator: ",")
        return .json(#"{"members":[\#(members)],"next":\#(next.map { "\"\($0)\"" } ?? "null")}"#)
    }

    /// The service's answers: two members, an empty page, and a last member.
    private static func pages(_ request: TransportRequest, _: Int) throws -> TransportResponse {
        let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        return switch items.first(where: { $0.name == "after" })?.value {
        case nil: page(["a", "b"], next: "b")
        case "b": page([], next: "x")
        case "x": page(["c"], next: nil)
        default: .refusal(400, "after_invalid")
        }
    }

    @Test("A list is read to its end, across an empty page, and anew by each reader", arguments: [nil, "team"])
    func pages(role: String?) async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport(Self.pages)
            let selfie = try Selfie.scripted(transport, folder: folder)
            let members =
                role.map { selfie.allMembers(ofRole: $0, pageSize: 2) }
                ?? selfie.allMembers(startingWith: "Ü", pageSize: 2)
            #expect(transport.all.isEmpty)
            #expect(try await members.collect().map(\.id) == ["a", "b", "c"])
            let base = "https://selfies.example.com/api/"
            let query = role.map { "roles/\($0)/members?" } ?? "members?query=%C3%9C&"
            #expect(
                transport.all.map(\.url.absoluteString)
                    == ["limit=2", "after=b&limit=2", "after=x&limit=2"].map { base + query + $0 }
            )
            #expect(try await members.map(\.id).contains("c"))
            #expect(transport.all.count == 6)
        }
    }

    @Test("A page is read when one of its members is asked for")
    func pageByPage() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport(Self.pages)
            var members = try Selfie.scripted(transport, folder: folder).allMembers().makeAsyncIterator()
            for (id, calls) in [("a", 1), ("b", 1), ("c", 3)] {
                #expect(try await members.next()?.id == id && transport.all.count == calls)
            }
            #expect(try await members.next() == nil && transport.all.count == 3)
            #expect(try await members.next() == nil && transport.all.count == 3)
        }
    }

    @Test("The members of the directory and of a role come from a service in memory")
    func inMemory() async throws {
        let service = try TestSchema.service()
        let ada = try await service.makeClient(signedInAs: "ada@example.com")
        var ids = [try #require(try ada.userID)]
        for name in ["bob", "eve"] {
            ids.append(try #require(try await service.makeClient(signedInAs: "\(name)@example.com").userID))
        }
        #expect(try await ada.allMembers(pageSize: 1).collect().map(\.id) == ids)
        #expect(try await ada.allMembers(startingWith: "EV").collect().map(\.id) == [ids[2]])
        await #expect(throws: SelfieError.self) { try await ada.allMembers(ofRole: "team").collect() }
        service.add(ids[0], toRole: "leads")
        for id in ids[1...] { try await ada.add(id, toRole: "team") }
        #expect(try await ada.allMembers(ofRole: "team", pageSize: 1).collect().map(\.id) == Array(ids[1...]))
    }
}
