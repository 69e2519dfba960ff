import ClientTestSupport
import Foundation
import ProcessTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The Swift code of the README and the pages about ports, run", .timeLimit(.minutes(5)))
struct PortCodeSoakTests {
    /// Makes clients of two members, and ends with 1 where a page's code does something else than it should.
    private static let start = #"""
        import Foundation
        import SelfieClient
        func check(_ isTrue: Bool, line: Int = #line) { if !isTrue { print("line \(line)"); exit(1) } }
        func until(line: Int = #line, _ isTrue: () async throws -> Bool) async throws {
            for _ in 1...600 {
                if try await isTrue() { return }
                try await Task.sleep(for: .milliseconds(50))
            }
            check(false, line: line)
        }
        let words = CommandLine.arguments
        let (service, photo) = (URL(string: words[1])!, URL(fileURLWithPath: words[4]))
        let credential = APICredential(name: words[2], password: words[3])
        /// The client of another device.
        func device(_ name: String) -> Selfie {
            let folder = URL(fileURLWithPath: name)
            let store = FileTokenStore(file: folder.appendingPathComponent("session"))
            let configuration = SelfieConfiguration(tokenStore: store, folder: folder)
            return Selfie(url: service, apiCredential: credential, configuration: configuration)
        }
        func signUp(_ name: String, _ selfie: Selfie) async throws -> Member.ID {
            let email = "\(name)@example.com"
            try await selfie.signUp(email: email, password: "secret 1", firstName: name, lastName: "Lovelace")
            return try await selfie.signIn(email: email, password: "secret 1").id
        }
        let (ada, bob) = (makeClient(of: service, credential), device("bob"))
        let (adaID, bobID) = (try await signUp("ada", ada), try await signUp("bob", bob))

        """#
    /// A session that another device ends is over once, and only once.
    private static let end = #"""

        var reasons: [SessionEvent.Reason] = []
        let watching = Task { await showSignIn(ada) { reasons.append($0) } }
        let other = device("other")
        try await other.signIn(email: "ada@example.com", password: adaPassword)
        try await other.signOut(everywhere: true)
        for _ in 1...2 {
            do {
                _ = try await ada.profile()
                check(false)
            } catch SelfieError.notSignedIn {}
        }
        try await until { reasons == [.revoked] }
        watching.cancel()
        """#

    private static let bugTracker = #"""
        let adaPassword = "secret 1"
        func bugs(_ numbers: ClosedRange<Int>) -> [Bug] {
            numbers.map { Bug(title: "Bug", points: $0, assignedUser: adaID) }
        }
        let made = try await ada.create(bugs(1...100))
        check(made.count == 100 && made[0].id == "1")
        for numbers in [101...200, 201...230] { _ = try await ada.create(bugs(numbers)) }
        let all = try await bob.bugs(of: adaID)
        check(all.map { $0.fields.points ?? 0 } == (1...230).reversed())
        struct Status: RecordFields {
            static let collection = "statuses"
            var name: String
        }
        let status = try await ada.records(Status.self).create(contentsOf: [Status(name: "Closed")])[0]
        let closed = try await bob.close(all[0], as: status.id)
        check(closed.fields.status == status.id && closed.fields.points == 230)
        var counts: [Int] = []
        for await bugs in try await ada.liveBugs(of: adaID) {
            if counts.isEmpty { for bug in all.prefix(2) { try await bob.delete(bug) } }
            counts.append(bugs.count)
            if bugs.count == 228 { break }
        }
        try await ada.subscribeToBugs()
        check(try await ada.subscriptions().map(\.id) == ["bugs"])
        """#

    private static let houseList = #"""
        let adaPassword = "secret 2"
        try await ada.add(House(address: "12 Rose Street", comment: "nice"), photo: photo)
        for number in 1...60 { try await ada.outbox.create(House(address: "\(number) Oak Road")) }
        var found: [Record<House>] = []
        for await houses in try await ada.houses(at: "12 R") where houses.count == 1 {
            found = houses
            break
        }
        for await houses in try await ada.houses() where houses.count == 61 { break }
        let others = try await bob.replica(of: [House.self])
        try await others.waitUntilCurrent()
        check(await others.records(House.self).isEmpty)
        // The photo's URL ends.
        try await ada.changePassword(from: "secret 1", to: adaPassword)
        check(try await ada.picture(of: found[0])?.isEmpty == false)
        found[0].fields.comment = "sold"
        let changed = try await ada.change(found[0])
        check(changed.version == 2 && changed.fields.comment == "sold")
        found[0].fields.comment = "for sale"
        do {
            _ = try await ada.change(found[0])
            check(false)
        } catch SelfieError.versionDiffers {}
        try await ada.delete(changed)
        for await houses in try await ada.houses() where houses.count == 60 { break }
        try await ada.subscribeToHouses()
        check(try await ada.subscriptions().map(\.id) == ["houses"])
        """#

    private static let officeMessenger = #"""
        let adaPassword = "secret 1"
        try await bob.showMyself(photo)
        let people = try await ada.people("bob")
        check(people.map(\.id) == [bobID])
        check(try await ada.photos.data(of: people[0].picture!).isEmpty == false)
        let ours = try await ada.thread(with: bobID)
        for _ in 1...2 { check(try await bob.thread(with: adaID) == ours) }
        check(try await ada.thread(with: bobID) == ours)
        for number in 1...20 { try await (number.isMultiple(of: 2) ? ada : bob).send("\(number)", to: ours) }
        try await ada.send("Look", to: ours, picture: photo)
        for await messages in try await bob.messages(of: ours) where messages.count == 21 {
            check(Set(messages.map(\.fields.text)) == Set((1...20).map(String.init) + ["Look"]))
            let pictured = messages.first { $0.fields.text == "Look" }!
            check(try await bob.picture(of: pictured)?.isEmpty == false)
            break
        }
        try await bob.subscribeToMessages()
        check(try await bob.subscriptions().map(\.id) == ["new-messages"])
        // A stranger has taken the id of a thread.
        let eve = device("eve")
        let eveID = try await signUp("eve", eve)
        let id = [adaID, bobID, eveID].filter { $0 != bobID }.sorted().joined(separator: ":")
        try await bob.records().create(Conversation(), id: id, readers: [adaID], writers: [adaID])
        do {
            _ = try await ada.thread(with: eveID)
            check(false)
        } catch SelfieError.conflict {}
        """#

    private static let safeChat = #"""
        let adaPassword = "secret 1"
        final class Letters: @unchecked Sendable { var all: [Record<Letter>] = [] }
        let letters = Letters()
        try await ada.deliver("Hello", to: bobID)
        let failing = Task {
            try await bob.receive { letter in
                letters.all.append(letter)
                throw CancellationError()
            }
        }
        _ = await failing.result
        check(letters.all.map(\.fields.text) == ["Hello"] && letters.all[0].owner == adaID)
        // It was not stored, so it is still there.
        let again = Task { try await bob.receive { letters.all.append($0) } }
        try await until { letters.all.count == 2 }
        try await ada.deliver("More", to: bobID)
        try await until { letters.all.count == 3 }
        try await until { try await bob.records(Letter.self).all().collect().isEmpty }
        again.cancel()
        check(letters.all.map(\.fields.text) == ["Hello", "Hello", "More"])
        try await bob.subscribeToInbox()
        check(try await bob.subscriptions().map(\.id) == ["inbox"])
        """#

    private static let selfieApp = #"""
        let adaPassword = "secret 1"
        let eve = device("eve")
        try await eve.join("Eve", "Other", email: "eve@example.com", password: "secret 1")
        for title in ["First", "Second"] {
            try await eve.add(try Data(contentsOf: photo), title: title)
            try await eve.outbox.waitUntilSent()
        }
        let selfies = try await eve.selfies()
        check(selfies.map(\.title) == ["Second", "First"])
        check(try await eve.picture(of: selfies[0]).isEmpty == false)
        try await eve.delete(selfies[0])
        check(try await eve.selfies().map(\.title) == ["First"])
        """#

    @Test(
        "The pages' code does what they say",
        arguments: zip(
            PortCode.pages,
            [bugTracker, houseList, officeMessenger, safeChat, selfieApp]
        )
    )
    func run(page: String, code: String) async throws {
        try await run([PortCode.shared, page], with: Self.start + code + Self.end, isBugTracker: page == "bug-tracker")
    }

    @Test("The README's code does the tutorial's eight calls")
    func runReadme() async throws { try await run([], with: try PortCode.readme, isBugTracker: false) }

    private func run(_ pages: [String], with main: String, isBugTracker: Bool) async throws {
        let schema = try isBugTracker ? TestService.bugTracker : TestService.exampleSchema
        try await TestService.runWithSchema(schema) { service in
            try await TemporaryFolder.with { folder in
                let photo = folder.appending(path: "docs/example.jpg")
                let docs = photo.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: docs, withIntermediateDirectories: true)
                try TestImage.jpeg.write(to: photo)
                let compiled = try await PortCode.compile(pages, with: main, in: folder)
                #expect(compiled.status == 0, "\(compiled.output)\(compiled.errors)")
                let outcome = try await PortCode.run(
                    [service.origin, TestService.apiName, TestService.apiPassword, photo.path],
                    in: folder
                )
                #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            }
        }
    }
}
