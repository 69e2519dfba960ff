import Foundation
import ServerProcesses
import TestSupport
import Testing

@testable import Cryptography

@Suite("Unguessable names")
struct RandomIdentifierTests {
    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let count = 4_000

    @Test("They have 48 letters and digits, each as likely as any other, at each position", .onDedicatedThreads)
    func letters() throws {
        let identifiers = (0..<Self.count).map { _ in RandomIdentifier.makeSecret() }
        #expect(Set(identifiers).count == Self.count)
        var counts: [Character: Int] = [:]
        var countsByPlace = Array(repeating: Set<Character>(), count: 48)
        for identifier in identifiers {
            try #require(identifier.utf8.count == 48)
            for (place, letter) in identifier.enumerated() {
                counts[letter, default: 0] += 1
                countsByPlace[place].insert(letter)
            }
        }
        #expect(String(counts.keys.sorted()) == String(Self.letters.sorted()))
        #expect(countsByPlace.allSatisfy { $0.count == 62 })
        // About 3,097 of each letter are expected; 8 standard deviations are 440.
        for (letter, count) in counts { #expect((2_600...3_600).contains(count), "\(letter): \(count)") }
    }

    @Test("Two that follow each other have no more in common than any two", .onDedicatedThreads)
    func neighbours() {
        let identifiers = (0..<2_000).map { _ in RandomIdentifier.makeSecret() }
        let same = zip(identifiers, identifiers.dropFirst()).map { zip($0, $1).count { $0 == $1 } }
        #expect(same.max() ?? 48 < 12)
        // About 1,548 are expected; 8 standard deviations are 312.
        #expect((1_200...1_900).contains(same.reduce(0, +)))
    }

    @Test("No randomness is made here: all comes from libcrypto's generator", .onDedicatedThreads)
    func sources() throws {
        let sources = ProjectFolder.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        let paths = files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        try #require(paths.count > 100)
        for path in paths {
            let text = try String(contentsOf: path, encoding: .utf8)
            if path.lastPathComponent == "SecureGenerator.swift" { continue }
            let ownGenerators = text.matches(of: /:[^\n{]*\bRandomNumberGenerator\b[^\n{]*\{/)
            #expect(ownGenerators.isEmpty, "\(path.lastPathComponent) has a generator of its own")
            let calls = text.matches(of: /(?:^|[^.\w])(?:s?rand|srandom|rand_r|[sdlmjne]rand48)\(/)
            #expect(calls.isEmpty, "\(path.lastPathComponent) calls a generator of the C library")
        }
        let file = sources.appending(path: "Cryptography/RandomIdentifier.swift")
        #expect(try String(contentsOf: file, encoding: .utf8).contains("= SecureGenerator()"))
    }
}
