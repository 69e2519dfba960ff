import ServerProcesses
import TestSupport
import Testing

@testable import Multipart

@Suite("Random bodies", .timeLimit(.minutes(1)))
struct MultipartModelTests {
    @Test(
        "never crash the parser or make it invent bytes, and give the same result however they are cut",
        arguments: 0..<40
    )
    func mutated(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for fixture in Fixture.valid + Fixture.invalid {
            var body = fixture.bytes
            for _ in 0..<10 {
                mutate(&body, boundary: fixture.boundary, &random)
                let whole = try fixture.outcome(of: body)
                #expect(whole.byteCount <= body.count)
                let cut = try fixture.outcome(of: body, cuts: cuts(of: body.count, &random))
                if cut != whole { Issue.record("\(fixture.name), seed \(seed): \(body)") }
            }
        }
    }

    @Test("give back exactly the contents that were put in", arguments: 0..<40)
    func roundTrip(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<50 {
            let contents = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                contentsWithoutDelimiter(of: Int.random(in: 0...60, using: &random), &random)
            }
            var body: [UInt8] = []
            for content in contents {
                body +=
                    lines("--bb", "Content-Disposition: form-data; name=a; filename=f", "", "") + content
                    + lines("", "")
            }
            let fixture = Fixture(name: "", boundary: "bb", body: body + lines("--bb--"))
            let outcome = try fixture.outcome(cuts: cuts(of: fixture.bytes.count, &random))
            #expect(outcome.error == nil)
            if outcome.parts.map(\.bytes) != contents { Issue.record("seed \(seed): \(contents)") }
        }
    }

    @Test("have their first CR found, at whatever distance and among whatever bytes", arguments: 0..<20)
    func carriageReturns(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        // The neighbours of CR, in value and by their high bit, are what the trick with words may trip over.
        let alphabet: [UInt8] = [0, 1, 12, 14, 0x8C, 0x8D, 0x8E, 0xFF]
        for count in 0..<80 {
            var bytes = (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] }
            if let index = bytes.indices.randomElement(using: &random), Bool.random(using: &random) {
                bytes[index] = 13
            }
            for start in 0...count {
                let expected = bytes[start...].firstIndex(of: 13) ?? count
                #expect(bytes.withUnsafeBytes { $0.firstCarriageReturn(from: start) } == expected)
            }
        }
    }
}

private func mutate(_ body: inout [UInt8], boundary: String, _ random: inout SplitMix64) {
    let tokens = [
        "\r", "\n", "\r\n", "\r\n\r\n", "\r\n--", "--", "--\(boundary)", "\r\n--\(boundary)\r\n", "\r\n--\(boundary)--",
        "\r\n--\(boundary) ", "\"", "\\", ";", "=", ":", " ", "\0", "%", "'", "filename*=UTF-8''", "; name=", "é",
    ]
    let start = Int.random(in: 0...body.count, using: &random)
    let end = Int.random(in: start...min(start + 8, body.count), using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: body.removeSubrange(start..<end)
    case 1: body.insert(contentsOf: body[start..<end], at: start)
    case 2: body.replaceSubrange(start..<end, with: body[start..<end].reversed())
    case 3: body.replaceSubrange(start..<end, with: body[start..<end].map { $0 ^ UInt8(1 << ($0 % 8)) })
    case 4: body.insert(UInt8.random(in: 0...255, using: &random), at: start)
    default: body.insert(contentsOf: (tokens.randomElement(using: &random) ?? "").utf8, at: start)
    }
}

/// Up to twenty offsets, in order; some come twice and so make an empty chunk.
private func cuts(of count: Int, _ random: inout SplitMix64) -> [Int] {
    (0..<Int.random(in: 0...20, using: &random)).map { _ in Int.random(in: 0...count, using: &random) }.sorted()
}

/// Random bytes of those that delimiters are made of, without the delimiter that begins with CRLF--bb.
private func contentsWithoutDelimiter(of count: Int, _ random: inout SplitMix64) -> [UInt8] {
    let pieces = ["\r\n", "\r\n--", "\r\n--b", "\r", "\n", "-", "--", "b", " ", "\t", "x"]
    while true {
        let bytes = (0..<count).flatMap { _ in Array((pieces.randomElement(using: &random) ?? "").utf8) }
        let line = lines("", "") + bytes
        let delimiter = Array("\r\n--bb".utf8)
        if !line.indices.contains(where: { line[$0...].starts(with: delimiter) }) { return bytes }
    }
}
