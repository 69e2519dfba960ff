import Foundation
import ServerProcesses
import TestSupport
import Testing

@Suite("Bytes that strangers send", .timeLimit(.minutes(1)))
struct SeedTests {
    /// The inputs of a target that are kept: beginnings for libFuzzer, and what it has found.
    private static func seeds(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = ProjectFolder.root.appending(path: "Tests/FuzzTests/Seeds/\(target.rawValue)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, try Array(Data(contentsOf: folder.appending(path: name))))
        }
    }

    @Test("Every stored input is accepted or refused as required", arguments: FuzzTarget.allCases)
    func kept(target: FuzzTarget) async throws {
        let seeds = try Self.seeds(of: target)
        #expect(seeds.count >= 3)
        for seed in seeds {
            await #expect(throws: Never.self, "\(seed.name)") { try await target.run(seed.bytes) }
        }
        try await target.run([])
    }

    @Test("So are a thousand changes of them", arguments: FuzzTarget.allCases)
    func changed(target: FuzzTarget) async throws {
        var random = SplitMix64(seed: 13)
        let seeds = try Self.seeds(of: target).map(\.bytes)
        for _ in 0..<1_000 {
            var bytes = try #require(seeds.randomElement(using: &random))
            for _ in 0..<Int.random(in: 1...4, using: &random) { bytes.change(from: seeds, using: &random) }
            do {
                try await target.run(bytes)
            } catch {
                Issue.record("\(error) for \(Data(bytes).base64EncodedString())")
                return
            }
        }
    }
}

extension [UInt8] {
    /// Removes, repeats, flips or inserts some bytes, or continues with those of another input.
    fileprivate mutating func change(from others: [[UInt8]], using random: inout SplitMix64) {
        let start = Int.random(in: 0...count, using: &random)
        let end = Int.random(in: start...Swift.min(start + 8, count), using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: removeSubrange(start..<end)
        case 1: insert(contentsOf: self[start..<end], at: start)
        case 2: replaceSubrange(start..<end, with: self[start..<end].map { $0 ^ UInt8(1 << ($0 % 8)) })
        case 3: insert(UInt8.random(in: 0...255, using: &random), at: start)
        default:
            let other = others.randomElement(using: &random) ?? []
            replaceSubrange(start..<count, with: other.suffix(Int.random(in: 0...other.count, using: &random)))
        }
    }
}
