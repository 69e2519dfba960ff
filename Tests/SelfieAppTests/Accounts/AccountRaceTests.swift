import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Races", .timeLimit(.minutes(3)))
struct AccountRaceTests {
    /// Sends requests at once, and gives their answers in order.
    private static func parallel(
        _ count: Int,
        _ request: @escaping @Sendable (Int) async throws -> HTTPAnswer
    ) async throws -> [HTTPAnswer] {
        try await withThrowingTaskGroup(of: (Int, HTTPAnswer).self) { tasks in
            for index in 0..<count { tasks.addTask { (index, try await request(index)) } }
            var answers: [Int: HTTPAnswer] = [:]
            for try await (index, answer) in tasks { answers[index] = answer }
            return (0..<count).compactMap { answers[$0] }
        }
    }

    @Test("20 sign-ups with one e-mail make one account")
    func signUps() async throws {
        try await TestService.run { service in
            let emails = ["ada@example.com", "ADA@example.com", " Ada@Example.COM ", "ada@EXAMPLE.com"]
            let answers = try await Self.parallel(20) { index in
                try await service.signUp(email: emails[index % emails.count], fullName: "User \(index)")
            }
            let refusal = #"{"status":400,"message":"email - has already been taken,","code":"email_taken"}"#
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.count { $0.text == refusal } == 19)
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
            let winner = answers.first { $0.status == 200 }?.json["last_name"] as? String
            #expect(try await service.signIn(email: "ada@example.com").json["last_name"] as? String == winner)
        }
    }

    @Test("20 deletions of one photo answer once that it is deleted", arguments: TestStore.allCases)
    func deletions(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let token = try await service.makeToken()
            for _ in 0..<3 {
                let randomID = try await service.uploadPhoto(token: token)
                let answers = try await Self.parallel(20) { _ in try await service.delete(randomID, token: token) }
                #expect(answers.count { $0.text == #"{"status":200,"message":"Image deleted"}"# } == 1)
                #expect(answers.count { $0.status == 401 && $0.message == Refusal.photo } == 19)
                #expect(service.objects.keys().isEmpty)
                #expect(try await service.count("SELECT count(*) FROM photos") == 0)
                #expect(try await service.count("SELECT count(*) FROM object_deletions") == 0)
            }
        }
    }

    @Test("20 sign-ins give 20 tokens that work")
    func signIns() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            let answers = try await Self.parallel(20) { _ in try await service.signIn(email: "ada@example.com") }
            let tokens = answers.compactMap { $0.json["api_authtoken"] as? String }
            #expect(Set(tokens).count == 20)
            let lists = try await Self.parallel(tokens.count) { try await service.list(token: tokens[$0]) }
            #expect(lists.allSatisfy { $0.status == 200 })
        }
    }

    @Test("Of password resets with one old password, one wins")
    func resets() async throws {
        try await TestService.run { service in
            let first = try await service.makeToken()
            let tokens = [first] + [try await service.newToken(), try await service.newToken()]
            let old = try TestService.encrypt("my password")
            let answers = try await Self.parallel(6) { index in
                try await service.sendForm(
                    "POST",
                    "/api/reset_password",
                    authorization: tokenHeader(tokens[index % tokens.count]),
                    [("old_password", old), ("new_password", try TestService.encrypt("new password \(index)"))]
                )
            }
            let winners = answers.indices.filter { answers[$0].status == 200 }
            #expect(winners.count == 1)
            let winner = try #require(winners.first)
            let refusals = [Refusal.wrongPassword, Refusal.token]
            let losers = answers.filter { $0.status != 200 }
            #expect(losers.allSatisfy { $0.status == 401 && refusals.contains($0.message ?? "") })
            for token in tokens { #expect(try await service.list(token: token).message == Refusal.token) }
            let newToken = try #require(answers[winner].json["api_authtoken"] as? String)
            #expect(try await service.list(token: newToken).status == 200)
            #expect(try await service.count("SELECT count(*) FROM sessions") == 1)
            for index in answers.indices {
                let status = try await service.signIn(email: "ada@example.com", password: "new password \(index)")
                    .status
                #expect(status == (index == winner ? 200 : 401))
            }
        }
    }

    @Test("No session that was begun with the old password outlives a reset")
    func signInDuringReset() async throws {
        try await TestService.run { service in
            var token = try await service.makeToken(password: "password 0")
            for round in 0..<4 {
                let current = token
                let old = "password \(round)"
                let new = try TestService.encrypt("password \(round + 1)")
                let answers = try await Self.parallel(7) { index in
                    if index != 2 { return try await service.signIn(email: "ada@example.com", password: old) }
                    return try await service.sendForm(
                        "POST",
                        "/api/reset_password",
                        authorization: tokenHeader(current),
                        [("old_password", try TestService.encrypt(old)), ("new_password", new)]
                    )
                }
                #expect(answers[2].status == 200, "\(answers[2].text)")
                token = try #require(answers[2].json["api_authtoken"] as? String)
                for (index, answer) in answers.enumerated() where index != 2 {
                    let isRefused = answer.status == 401 && answer.message == Refusal.wrongCredentials
                    #expect(answer.status == 200 || isRefused, "\(answer.text)")
                    guard let begun = answer.json["api_authtoken"] as? String else { continue }
                    #expect(try await service.list(token: begun).message == Refusal.token)
                }
                #expect(try await service.list(token: token).status == 200)
                #expect(try await service.count("SELECT count(*) FROM sessions") == 1)
            }
        }
    }
}
