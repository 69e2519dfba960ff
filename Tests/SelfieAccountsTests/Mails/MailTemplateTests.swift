import Foundation
import TestSupport
import Testing

@testable import SelfieAccounts

@Suite("Texts of mails")
struct MailTemplateTests {
    private static let values: [MailTemplates.Placeholder: String] = [
        .app: "{code} {link}", .link: "https://example.com", .code: "123456", .minutes: "10", .time: "now",
        .place: "here",
        .actor: "by you", .collection: "bugs", .changes: "- b1 was created",
    ]

    @Test("Each built-in text is filled, says its code, and has no placeholder left", arguments: MailKind.allCases)
    func builtIn(kind: MailKind) {
        let (subject, text) = MailTemplates().mail(kind, Self.values)
        // A value is not filled again.
        #expect(subject.contains("{code} {link}"))
        let rest = (subject + text).replacing("{code} {link}", with: "")
        #expect(!rest.contains("{") && !rest.contains("}"))
        #expect(text.contains("123456") == kind.hasCode)
        #expect(text.hasSuffix(".\n") && !text.hasPrefix("\n") && !subject.contains("\n"))
        #expect(!text.contains("  \n") && !text.contains("\r"))
    }

    /// What is wrong with the files of a folder, as `name: reason`.
    private static func problems(_ files: [String: Data]) async throws -> [String] {
        try await TemporaryFolder.with { folder in
            for (name, data) in files { try data.write(to: folder.appending(path: name)) }
            do throws(MailTemplateErrors) {
                _ = try MailTemplates(folder: folder.path)
                return []
            } catch {
                return error.errors.map { "\($0.file): \($0.reason)" }
            }
        }
    }

    @Test("A file replaces one text, with any line ends")
    func replaced() async throws {
        try await TemporaryFolder.with { folder in
            try Data("Subject:  {code} for {app} \r\n\r\nUse {code}.\r\n{minutes} {braces stay}\r\n\r\n".utf8)
                .write(to: folder.appending(path: "signin_code.txt"))
            try Data("ignored".utf8).write(to: folder.appending(path: "README.md"))
            let templates = try MailTemplates(folder: folder.path)
            let (subject, text) = templates.mail(.signInCode, Self.values)
            #expect(subject == "123456 for {code} {link}")
            #expect(text == "Use 123456.\n10 {braces stay}\n")
            #expect(templates.mail(.resetCode, Self.values) == MailTemplates().mail(.resetCode, Self.values))
        }
    }

    @Test("All that is wrong is named at once")
    func malformed() async throws {
        let good = Data("Subject: A\n\n{code}".utf8)
        let found = try await Self.problems([
            "reset_code.txt": Data("Subject: A\n\nnone".utf8), "signin_code.txt": Data("A\n\n{code}".utf8),
            "email_code.txt": Data("Subject: A\n{code}".utf8), "unknown.txt": good,
            "account_deleted.txt": Data("Subject: {place}\n\nA".utf8), "email_changed.txt": Data([0x53, 0xFF]),
            "password_changed.txt": Data(repeating: 0x20, count: 65_537),
            "password_ended.txt": Data("Subject: \n\nA".utf8),
        ])
        #expect(
            found == [
                "account_deleted.txt: unknownPlaceholder(\"place\")", "email_changed.txt: noUTF8",
                "email_code.txt: noSubject", "password_changed.txt: tooLarge", "password_ended.txt: noSubject",
                "reset_code.txt: noCode", "signin_code.txt: noSubject", "unknown.txt: unknownName",
            ]
        )
        #expect(try await Self.problems([:]).count == 1)
        #expect(throws: MailTemplateErrors.self) { try MailTemplates(folder: "/does/not/exist") }
        #expect(try await Self.problems(["reset_code.txt": good]) == [])
    }
}
