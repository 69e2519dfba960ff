import Foundation
import Postgres
import ProcessTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The pages about ports, run", .timeLimit(.minutes(5)))
struct PortCodeSoakTests {
    /// Makes clients of two members, and ends with 1 where a page's code does something else than it should.
    private static let start = #"""
        import Foundation
        func check(_ isTrue: Bool, line: Int = #line) { if !isTrue { print("line \(line)"); exit(1) } }
        let words = CommandLine.arguments
        let url = URL(string: words[1])!
        final class Ends: @unchecked Sendable { var count = 0 }
        let ends = Ends()
        let ada = Selfie(url: url, token: words[2]) { ends.count += 1 }
        let bob = Selfie(url: url, token: words[4]) {}
        let (adaID, bobID) = (words[3], words[5])

        """#
    /// The session ends once, and the next call is refused.
    private static let end = #"""

        try await ada.signOut()
        do {
            let _: Selfie.Done = try await ada.call("GET", "api/me")
            check(false)
        } catch let refusal as Selfie.Refusal { check(refusal.code == "token_invalid") }
        let old = Selfie(url: url, token: words[2]) { ends.count += 1 }
        for _ in 1...2 { _ = try? await old.call("GET", "api/me") as Selfie.Done }
        check(ends.count == 1)
        """#

    private static let bugTracker = #"""
        func bugs(_ numbers: ClosedRange<Int>) -> [Bug] {
            numbers.map { number in Bug(data: .init(title: "Bug", points: number, assignedUser: adaID)) }
        }
        let made = try await create(bugs(1...100), ada)
        check(made.count == 100 && made[0].id == "1")
        for numbers in [101...200, 201...230] { _ = try await create(bugs(numbers), ada) }
        let all = try await bugs(of: adaID, bob)
        check(all.map { $0.data.points ?? 0 } == (1...230).reversed())
        struct Status: Codable, Sendable {
            struct Fields: Codable, Sendable { var name: String }
            var id: String?
            var data: Fields
        }
        let status: Status = try await ada.call("POST", "api/records/statuses", body: Status(data: .init(name: "Closed")))
        check(try await close(all[0], as: status.id!, bob).data.status == status.id)
        try await delete(Array(all.prefix(2)), bob)
        check(try await bugs(of: adaID, ada).count == 228)
        """#

    private static let houseList = #"""
        final class Seen: @unchecked Sendable { var (changes, cursor, forgotten): (Int, String?, Int) = (0, nil, 0) }
        let id = UUID()
        _ = try await save(House(data: .init(address: "12 Rose Street", comment: "nice", photo: words[6])), id: id, ada)
        for number in 1...60 { _ = try await save(House(data: .init(address: "\(number) Oak Road")), id: UUID(), ada) }
        check(try await houses(at: "12 R", ada).map(\.id) == [id.uuidString])
        check(try await houses(at: "", ada).count == 61)
        check(try await houses(at: "12 R", bob).isEmpty)
        var house = try await houses(at: "12 R", ada)[0]
        check(try await photo(of: house, ada)?.isEmpty == false)
        // As if it had ended.
        house.photos = house.photos?.mapValues {
            URL(string: $0.absoluteString.replacingOccurrences(of: "signature=", with: "signature=x"))!
        }
        check(try await photo(of: house, ada)?.isEmpty == false)
        let seen = Seen()
        for _ in 1...2 {
            try await catchUp(from: seen.cursor, ada, forget: { seen.forgotten += 1 }) { page in
                seen.changes += page.changes.count
                seen.cursor = page.cursor
            }
        }
        // Its photo is a change, too, of another collection.
        check(seen.changes == 61 && seen.forgotten == 0)
        """#

    private static let officeMessenger = #"""
        let own: Person = try await bob.call("GET", "api/me")
        check(try await people(own.first_name, ada).map(\.id).contains(bobID))
        let ours = try await thread(with: bobID, me: adaID, ada)
        check(try await thread(with: adaID, me: bobID, bob) == ours)
        let id = UUID()
        for _ in 1...2 { try await send("Hello", to: ours, id: id, ada) }
        for number in 1...210 { try await send("\(number)", to: ours, id: UUID(), number.isMultiple(of: 2) ? ada : bob) }
        let all = try await messages(of: ours, bob)
        check(all.count == 211 && all[0].data.text == "Hello")
        let pictured = Message(data: .init(threadId: ours, text: "", picture: words[6]))
        let sent: Message = try await ada.call("PUT", "api/records/messages/pictured", body: pictured)
        check(try await picture(of: sent, ada)?.isEmpty == false)
        """#

    private static let safeChat = #"""
        final class Letters: @unchecked Sendable { var all: [Letter] = [] }
        let letters = Letters()
        func waitFor(_ count: Int) async throws {
            while letters.all.count < count { try await Task.sleep(nanoseconds: 50_000_000) }
        }
        for _ in 1...2 { try await deliver("Hello", to: bobID, id: UUID(uuidString: "11111111-1111-4111-8111-111111111111")!, ada) }
        let failing = Task {
            try await receive(bob) { letter in
                letters.all.append(letter)
                throw CancellationError()
            }
        }
        _ = await failing.result
        check(letters.all.map(\.data.text) == ["Hello"] && letters.all[0].owner == adaID)
        // It was not stored, so it is still there.
        let again = Task { try await receive(bob) { letters.all.append($0) } }
        try await waitFor(2)
        try await deliver("More", to: bobID, id: UUID(), ada)
        try await waitFor(3)
        try await Task.sleep(nanoseconds: 1_000_000_000)
        again.cancel()
        let rest: Selfie.Page<Letter> = try await bob.call("GET", "api/records/inbox")
        check(rest.records.isEmpty && letters.all[2].data.text == "More")
        """#

    @Test(
        "Their Swift code does what they say",
        arguments: zip(
            PortCode.pages,
            [bugTracker, houseList, officeMessenger, safeChat]
        )
    )
    func run(page: String, code: String) async throws {
        let schema = try page == "bug-tracker" ? TestService.bugTracker : TestService.exampleSchema
        try await TestService.runWithSchema(schema) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let photo = try await service.uploadUnlisted(as: ada).id
            try await TemporaryFolder.with { folder in
                let compiled = try await PortCode.compile([page], with: Self.start + code + Self.end, in: folder)
                #expect(compiled.status == 0, "\(compiled.output)\(compiled.errors)")
                let outcome = try await PortCode.run(
                    [service.origin, ada.token, ada.id, bob.token, bob.id, photo],
                    in: folder
                )
                #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            }
        }
    }
}
