import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("The secrecy of codes", .timeLimit(.minutes(2)))
struct CodeSecrecyTests {
    @Test("Neither a dump nor the log holds a code, the text of a mail, or the address of a delivery")
    func dump() async throws {
        try await TestService.run(settings: ["LOG_LEVEL": "trace", "SIGNUP_WITHOUT_PASSWORD": "true"]) { service in
            let token = try await service.makeToken()
            _ = try await service.signUpWithoutPassword("grace@example.com")
            try await service.moveEmail(to: "countess@example.com", token: token)
            try await service.requestCode("countess@example.com", for: "reset")
            let reset = try await service.mails.code(to: "countess@example.com", number: 2)
            #expect(try await service.recover("countess@example.com", code: reset).status == 200)
            try await service.requestCode("countess@example.com")
            _ = try await service.mails.code(to: "countess@example.com", number: 3)
            let codes = service.mails.all.compactMap { $0.firstMatch(of: /your code is (\d{6})$/).map { String($0.1) } }
            #expect(codes.count == 4)
            let dump = try await DatabaseDump.lines(url: service.databaseURL).joined(separator: "\n")
            let log = service.log.text
            #expect(dump.contains("countess@example.com") && log.contains("/api/recover_password"))
            // Times have six digits behind the point, which may be the same.
            let numbers = Set("\(dump)\n\(log)".split { !$0.isASCII || !($0.isNumber || $0 == ".") })
            for code in codes { #expect(!numbers.contains(Substring(code)), "\(code)") }
            for text in ["Nobody from", "Your code", "works once"] {
                #expect(!dump.contains(text) && !log.contains(text))
            }
            #expect(!log.contains("example.com"))
        }
    }

    @Test("A delivery that waits has neither address nor code, and the service of another secret can't use it")
    func waiting() async throws {
        try await TestCluster.withDatabase { url in
            let first = ["SIGNUP_WITHOUT_PASSWORD": "true"]
            try await TestService.run(
                databaseURL: url,
                settings: first,
                adjust: { $0.worksInBackground = false }
            ) { service in
                let token = try await service.makeToken()
                #expect(try await service.changeEmail("new@example.com", token: token).status == 200)
                _ = try await service.signUpWithoutPassword("grace@example.com")
                let rows = try await service.postgres.read("SELECT deliveries::text AS line FROM deliveries")
                let lines = try rows.map { try $0.decode("line", as: String.self) }
                #expect(lines.count == 3 && lines.allSatisfy { !$0.contains("@") && !$0.contains("example") })
            }
            let other = first.merging(["SECRET_KEY_BASE": String(repeating: "another-secret-", count: 4)]) { $1 }
            try await TestService.run(databaseURL: url, settings: other) { service in
                // The codes that it sends are others than those that the first service would have taken.
                _ = try await service.mails.code(to: "grace@example.com")
                _ = try await service.mails.code(to: "new@example.com")
                try await poll("the notice fails") {
                    try await service.count("SELECT count(*) FROM deliveries WHERE reason = 'secret_changed'") == 1
                }
            }
        }
    }
}
