import Budgets
import Cryptography
import Encodings
import Foundation
import LinuxFiles
import NIOCore
import NIOFoundationCompat
import S3
import ServerProcesses
import TestSupport
import Testing

@testable import ObjectStore

@Suite("Uploads on their way to the store")
struct SpoolTests {
    /// What each upload may have in memory beside what uploads share.
    private static let limit = 262_144

    private func spool(
        _ bytes: Data,
        chunk: Int,
        sharing budget: SpoolBudget = .unshared,
        userID: Int = 1
    ) async throws -> SpooledObject {
        var spool = Spool(budget, userID: userID)
        var rest = ByteBuffer(data: bytes)
        while let next = rest.readSlice(length: min(chunk, rest.readableBytes)), next.readableBytes > 0 {
            try await spool.append(next)
        }
        return try await spool.finish()
    }

    private func contents(_ object: SpooledObject) async throws -> Data {
        Data(buffer: try await object.bytes(in: 0..<object.length))
    }

    @Test(
        "Bytes come out as they went in, from memory up to the limit and from a file beyond",
        arguments: [0, 1, 63, 64, 65, limit - 1, limit, limit + 1, 3 * limit + 17]
    )
    func contents(count: Int) async throws {
        let bytes = TestImage.png(bytes: max(count, 8)).prefix(count)
        let object = try await spool(bytes, chunk: 100_003)
        let isFile = if case .file = object.storage { true } else { false }
        #expect(isFile == (count > Self.limit))
        #expect(object.length == count)
        let digests = try await object.digests()
        #expect(digests.sha256Hex == SHA256.hash(bytes).hexadecimal)
        #expect(digests.md5Hex == MD5.hash(bytes).hexadecimal)
        for _ in 0..<2 { #expect(try await contents(object) == bytes) }
    }

    @Test("Beyond its own part an upload has shared memory while there is some, and gives it back when it is dropped")
    func sharedMemory() async throws {
        let budget = SpoolBudget(memory: PermitLimits(total: 2 * Self.limit))
        let bytes = TestImage.png(bytes: 3 * Self.limit)
        try await Self.holding(try await spool(bytes, chunk: 70_001, sharing: budget)) { first in
            guard case .memory = first.storage else {
                Issue.record("in a file, though there was memory")
                return
            }
            #expect(budget.memoryBytesUsed == 2 * Self.limit)
            let read = try await contents(first)
            #expect(read == bytes)
            for range in [0..<1, 262_143..<262_145, 100..<700_000, bytes.count - 1..<bytes.count] {
                #expect(Data(buffer: try await first.bytes(in: range)) == bytes[range])
            }
            let second = try await spool(bytes, chunk: 70_001, sharing: budget)
            guard case .file = second.storage else {
                Issue.record("in memory, though there was none left")
                return
            }
            #expect(try await contents(second) == bytes)
            #expect(budget.memoryBytesUsed == 2 * Self.limit)
        }
        #expect(budget.memoryBytesUsed == 0)
    }

    @Test("An upload that outgrows the shared memory gives all of it back at once, not when it has ended")
    func outgrown() async throws {
        let budget = SpoolBudget(memory: PermitLimits(total: Self.limit))
        let bytes = TestImage.png(bytes: 2 * Self.limit + 1)
        var spool = Spool(budget, userID: 1)
        try await spool.append(ByteBuffer(data: bytes.dropLast()))
        #expect(budget.memoryBytesUsed == Self.limit)
        try await spool.append(ByteBuffer(data: bytes.suffix(1)))
        #expect(budget.memoryBytesUsed == 0)
        try await Self.holding(try await spool.finish()) { object in
            #expect(budget.memoryBytesUsed == 0)
            let read = try await contents(object)
            #expect(read == bytes)
        }
    }

    @Test("One user can't have all of the shared memory")
    func share() async throws {
        let budget = SpoolBudget(memory: PermitLimits(total: 4 * Self.limit, perHolder: Self.limit))
        func isInMemory(blocks: Int, userID: Int) async throws -> SpooledObject {
            try await spool(TestImage.png(bytes: blocks * Self.limit), chunk: 100_000, sharing: budget, userID: userID)
        }
        let objects = [
            try await isInMemory(blocks: 2, userID: 1), try await isInMemory(blocks: 2, userID: 1),
            try await isInMemory(blocks: 2, userID: 2),
        ]
        #expect(objects.map { if case .memory = $0.storage { true } else { false } } == [true, false, true])
        #expect(budget.memoryBytesUsed == 2 * Self.limit)
    }

    @Test("Temporary files have a budget, an upload beyond it fails, and what it took is given back")
    func disk() async throws {
        let budget = SpoolBudget(memory: PermitLimits(total: 0), disk: PermitLimits(total: 4 * Self.limit))
        let image = TestImage.png(bytes: 3 * Self.limit)
        try await Self.holding(try await spool(image, chunk: 100_000, sharing: budget)) { _ in
            #expect(budget.diskBytesUsed == image.count)
            await #expect(throws: TooBusy.everyone(limit: "SPOOL")) {
                try await spool(image, chunk: 100_000, sharing: budget)
            }
            #expect(budget.diskBytesUsed == image.count)
        }
        #expect(budget.diskBytesUsed == 0)
    }

    /// Keeps an object for the time of the body, and no longer.
    private static func holding(
        _ object: consuming SpooledObject,
        _ body: (SpooledObject) async throws -> Void
    ) async throws {
        try await body(object)
    }

    @Test("Bytes that trickle come out as they went in")
    func trickle() async throws {
        let bytes = TestImage.png(bytes: 200)
        let object = try await spool(bytes, chunk: 1)
        #expect(try await contents(object) == bytes)
    }

    @Test("A chunk that is larger than the limit goes to the file whole")
    func largeChunk() async throws {
        let bytes = TestImage.png(bytes: 3 * Self.limit)
        let object = try await spool(bytes, chunk: bytes.count)
        #expect(try await contents(object) == bytes)
    }

    @Test("The file has no name while it is used")
    func noName() async throws {
        let before = try Self.namedSpools()
        let bytes = TestImage.png(bytes: 2 * Self.limit, seed: UInt8.random(in: 1...255))
        let object = try await spool(bytes, chunk: 100_000)
        #expect(object.length == bytes.count)
        try await poll("no new spool has a name") { try Self.namedSpools().subtracting(before).isEmpty }
        guard case .file(let file) = object.storage else {
            Issue.record("the spool is not in a file")
            return
        }
        let link = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file.descriptor)")
        #expect(link.contains(/\/spool-[A-Za-z0-9]{6} \(deleted\)$/))
    }

    private static func namedSpools() throws -> Set<String> {
        let names = try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
        return Set(names.filter { $0.wholeMatch(of: /selfie-[A-Za-z0-9]{6}/) != nil })
    }

    @Test("The file is closed when the upload is dropped")
    func closed() async throws {
        let link = try await Self.linkOfDroppedSpool(
            try await spool(TestImage.png(bytes: 2 * Self.limit), chunk: 100_000)
        )
        try await poll("the spool is closed") { try !ProcessTable.openFiles().contains(link) }
    }

    /// What the spool's descriptor leads to, unlike any other's; the spool is dropped on return.
    private static func linkOfDroppedSpool(_ object: consuming SpooledObject) async throws -> String {
        guard case .file(let file) = object.storage else { throw NotInTime(what: "a spool in a file") }
        let link = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file.descriptor)")
        #expect(try ProcessTable.openFiles().contains(link))
        return link
    }
}

extension SpoolTests {
    /// Pieces of what was received, with other bytes in between.
    private static let pieces: [SpooledObject.Piece] = [
        .received(5..<9), .zeros(3), .bytes([1, 2, 3]), .received(0..<0), .received(100..<700_000), .zeros(300_000),
        .received(9..<10),
    ]

    @Test("What is stored may be pieces of what was received, from memory and from a file", arguments: [false, true])
    func rewritten(inMemory: Bool) async throws {
        let budget = SpoolBudget(memory: PermitLimits(total: inMemory ? 10 * Self.limit : 0))
        let bytes = TestImage.png(bytes: 700_000)
        let received = try await spool(bytes, chunk: 60_000, sharing: budget)
        let object = received.rewritten(as: Self.pieces)
        let expected =
            Data(bytes[5..<9]) + Data(count: 3) + [1, 2, 3] + bytes[100...] + Data(count: 300_000) + bytes[9..<10]
        #expect(object.length == expected.count)
        #expect(try await contents(object) == expected)
        #expect(try await object.digests().sha256Hex == SHA256.hash(expected).hexadecimal)
        let end = expected.count
        for range in [0..<0, 0..<1, 3..<5, 4..<12, 6..<8, 9..<262_200, 700_000..<end, end..<end] {
            #expect(try await Data(buffer: object.bytes(in: range)) == expected[range], "\(range)")
        }
        var written = Data()
        try object.forEachPart { written += $0 }
        #expect(written == expected)
    }

    @Test("A budget's disk alone leaves its memory to others, and is shared with them")
    func onDisk() async throws {
        let budget = SpoolBudget(
            memory: PermitLimits(total: 10 * Self.limit),
            disk: PermitLimits(total: 4 * Self.limit)
        )
        let bytes = Data((0..<2 * Self.limit + 1).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let object = try await spool(bytes, chunk: 10_000, sharing: budget.onDisk)
        #expect(try await contents(object) == bytes)
        #expect(budget.memoryBytesUsed == 0 && budget.diskBytesUsed == bytes.count)
        await #expect(throws: TooBusy.everyone(limit: "SPOOL")) {
            try await spool(bytes, chunk: 10_000, sharing: budget.onDisk, userID: 2)
        }
        withExtendedLifetime(object) {}
    }
}
