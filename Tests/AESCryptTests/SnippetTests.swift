import AESCrypt
import Foundation
import ProcessTestSupport
import ServerProcesses
import Testing

@testable import PasswordSnippet

@Suite("The page about passwords")
struct SnippetTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let apiPassword: String
        let password: String
        let encrypted: String

        var testDescription: String { "\(apiPassword) \(password.prefix(20))" }
    }

    private static let folder = ProjectFolder.root.appending(path: "docs")

    private static let page = (try? String(contentsOf: folder.appending(path: "passwords.md"), encoding: .utf8)) ?? ""

    static let vectors: [Vector] = page.matches(of: /\| `([^`]+)` \| `([^`]*)` \| `([A-Za-z0-9+\/=]+)` \|/).map {
        match in
        Vector(
            apiPassword: String(match.output.1),
            // Markdown shows an empty password so.
            password: String(match.output.2),
            encrypted: String(match.output.3)
        )
    }

    @Test("It has vectors of all lengths, the contract's among them")
    func allVectors() {
        #expect(Self.vectors.count == 8)
        #expect(
            Self.vectors.contains {
                ($0.apiPassword, $0.password, $0.encrypted)
                    == ("p4ssw0rd", "top secret message", "EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk=")
            }
        )
        #expect(Set(Self.vectors.map { $0.password.utf8.count }).isSuperset(of: [0, 15, 16, 72]))
    }

    @Test("The service decrypts what the page's code encrypts", arguments: vectors)
    func service(vector: Vector) throws {
        let cipher = AESCrypt(passphrase: vector.apiPassword)
        #expect(try cipher.decrypt(vector.encrypted) == Array(vector.password.utf8))
        #expect(try cipher.encrypt(Array(vector.password.utf8)) == vector.encrypted)
    }

    @Test("It has the code of all files, to the letter")
    func files() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: "passwords").path)
        #expect(
            names.sorted() == [
                "EncryptPassword.kt", "EncryptPassword.swift", "encrypt-password.js", "encrypt-password.sh",
                "encrypt_password.py",
            ]
        )
        for name in names {
            let code = try String(contentsOf: Self.folder.appending(path: "passwords/\(name)"), encoding: .utf8)
            #expect(Self.page.contains("\n\(code)```\n"), "\(name)")
        }
    }

    @Test("Swift's code makes the vectors", arguments: vectors)
    func swift(vector: Vector) throws {
        #expect(try encryptPassword(vector.password, apiPassword: vector.apiPassword) == vector.encrypted)
    }

    @Test("The shell's code makes the vectors", arguments: vectors)
    func shell(vector: Vector) async throws {
        let outcome = try await ProgramOutcome.run(
            URL(filePath: "/bin/sh"),
            [Self.folder.appending(path: "passwords/encrypt-password.sh").path],
            environment: ["API_AUTH_PASSWORD": vector.apiPassword],
            directory: ProjectFolder.root,
            input: vector.password
        )
        #expect(outcome.output == vector.encrypted, "\(outcome.errors)")
    }

    @Test("JavaScript's code makes the vectors, in a browser", .timeLimit(.minutes(2)))
    func javaScript() async throws {
        let pairs = try JSONEncoder().encode(Self.vectors.map { [$0.apiPassword, $0.password] })
        let output = try await PythonScript.run("browser/snippet.py", input: String(decoding: pairs, as: UTF8.self))
        let encrypted = try JSONDecoder().decode([String].self, from: Data(output.utf8))
        #expect(encrypted == Self.vectors.map(\.encrypted))
    }

    @Test("Python's code makes the vectors")
    func python() async throws {
        let lines = Self.vectors.map { "\($0.apiPassword)\t\($0.password)\n" }.joined()
        let output = try await PythonScript.run("encrypt_passwords.py", input: lines)
        #expect(output == Self.vectors.map { "\($0.encrypted)\n" }.joined())
    }
}
