import Foundation
import Testing

@testable import SelfieClient

@Suite("A log of frames")
struct FrameLogTests {
    private static func read(_ file: URL) throws -> (frames: [String], log: FrameLog) {
        var frames: [String] = []
        let log = try FrameLog(file: file, disk: Disk()) { frames.append(String(decoding: $0, as: UTF8.self)) }
        return (frames, log)
    }

    @Test("What was added is there again, in order, and only its owner can read it")
    func order() async throws {
        try await TestFolder.with { folder in
            let file = folder.appendingPathComponent("log")
            do {
                let (frames, log) = try Self.read(file)
                #expect(frames.isEmpty)
                for text in ["one", "", "SLF1", "four"] { try log.append(Data(text.utf8)) }
            }
            #expect(try Self.read(file).frames == ["one", "", "SLF1", "four"])
            #expect(try TestFolder.mode(of: file) == 0o600)
        }
    }

    @Test("Cut off at any byte, it has the whole frames before, and goes on behind them")
    func cutOff() async throws {
        try await TestFolder.with { folder in
            let file = folder.appendingPathComponent("log")
            do {
                let log = try Self.read(file).log
                for text in ["one", "two", "three"] { try log.append(Data(text.utf8)) }
            }
            let whole = try Data(contentsOf: file)
            for count in 0..<whole.count {
                try whole.prefix(count).write(to: file)
                let expected = Array(["one", "two", "three"].prefix(count < 19 ? 0 : count < 38 ? 1 : 2))
                do {
                    let (frames, log) = try Self.read(file)
                    #expect(frames == expected && log.damagedBytes == 0, "\(count)")
                    try log.append(Data("more".utf8))
                }
                #expect(try Self.read(file).frames == expected + ["more"], "\(count)")
            }
        }
    }

    @Test("A damaged byte anywhere costs its own frame alone, and is noticed")
    func damage() async throws {
        try await TestFolder.with { folder in
            let file = folder.appendingPathComponent("log")
            do {
                let log = try Self.read(file).log
                for text in ["one", "two", "six"] { try log.append(Data(text.utf8)) }
            }
            let whole = try Data(contentsOf: file)
            for position in whole.indices {
                var damaged = whole
                damaged[position] ^= 0x55
                try damaged.write(to: file)
                let (frames, log) = try Self.read(file)
                var expected = ["one", "two", "six"]
                expected.remove(at: position / 19)
                #expect(frames == expected, "\(position)")
                #expect(log.damagedBytes == (position < 38 ? 19 : 0), "\(position)")
            }
        }
    }

    @Test("Rewritten, it has the new frames alone, and goes on")
    func rewrite() async throws {
        try await TestFolder.with { folder in
            let file = folder.appendingPathComponent("log")
            do {
                let log = try Self.read(file).log
                for text in ["one", "two"] { try log.append(Data(text.utf8)) }
                try log.rewrite([Data("three".utf8)])
                try log.append(Data("four".utf8))
                #expect(try Data(contentsOf: file).count == log.byteCount)
            }
            #expect(try Self.read(file).frames == ["three", "four"])
        }
    }

    @Test("On a full disk, nothing is added, and what was there stays", arguments: ["append", "synchronize log"])
    func fullDisk(step: String) async throws {
        try await TestFolder.with { folder in
            let file = folder.appendingPathComponent("log")
            let isFull = Locked(false)
            let disk = Disk { name in
                if name == step, isFull.withLock({ $0 }) { throw SelfieError.diskFull }
            }
            let log = try FrameLog(file: file, disk: disk) { _ in }
            try log.append(Data("one".utf8))
            isFull.withLock { $0 = true }
            #expect(throws: SelfieError.diskFull) { try log.append(Data("two".utf8)) }
            isFull.withLock { $0 = false }
            try log.append(Data("three".utf8))
            #expect(try Self.read(file).frames == ["one", "three"])
        }
    }

    @Test(
        "A rewrite that fails at any step leaves a log that goes on",
        arguments: ["create", "write", "move", "synchronize folder"]
    )
    func failedRewrite(step: String) async throws {
        try await TestFolder.with { folder in
            let file = folder.appendingPathComponent("log")
            let isBroken = Locked(false)
            let disk = Disk { name in
                if name == step, isBroken.withLock({ $0 }) { throw SelfieError.diskFull }
            }
            let log = try FrameLog(file: file, disk: disk) { _ in }
            try log.append(Data("one".utf8))
            isBroken.withLock { $0 = true }
            #expect(throws: SelfieError.diskFull) { try log.rewrite([Data("two".utf8)]) }
            isBroken.withLock { $0 = false }
            try log.append(Data("three".utf8))
            #expect(try Self.read(file).frames == [step == "synchronize folder" ? "two" : "one", "three"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["log"])
        }
    }
}
