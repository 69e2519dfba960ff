import Testing

@testable import ImageFiles

@Suite("Sequences of a HEIF, stripped")
struct HEIFSequenceStrippingTests {
    typealias Change = @Sendable (inout BuiltSequence) -> Void

    @Test("Only samples, and what describes them, are left")
    func sequence() async throws {
        for version in 0...1 {
            let secret = BuiltSequence.secret
            let sequence = BuiltSequence {
                $0.headerVersion = version
                $0.gap = secret
                $0.inEntry = Boxes.box("colr", Array("nclxKEPTIT!".utf8) + secret) + Boxes.box("abcd", secret)
                $0.inEntry += Boxes.box("ccst", Array("KEPTKEPT".utf8) + secret)
                $0.inTable = Boxes.full("sgpd", secret) + Boxes.full("cslg", Array(repeating: 5, count: 20) + secret)
                $0.inInformation = Boxes.box("hmhd", secret)
                $0.inMedia = Boxes.full("elng", secret)
                $0.inTrack = Boxes.full("meta", secret) + Boxes.box("udta", secret)
                $0.inTrack += Boxes.box("tref", Boxes.box("auxl", [0, 0, 0, 1]))
                $0.inMovie = Boxes.box("udta", secret) + Boxes.full("meta", secret) + Boxes.box("iods", secret)
                $0.behindMovie = Boxes.box("sidx", secret) + Boxes.box("uuid", secret)
            }
            let bytes = sequence.bytes
            let stripped = try #require(try await HEIFStrip.strip(bytes))
            #expect(bytes.holds("SECR") && !stripped.holds("SECR"))
            #expect(!stripped.holds("secret") && !stripped.holds("maker"))
            for word in ["KEPT oneKEPT two", "KEPT 3", "colrnclxKEPTIT!", "ccstKEPTKEPT", "auxl", "edts"] {
                #expect(stripped.firstRange(of: Array(word.utf8)) == bytes.firstRange(of: Array(word.utf8)), "\(word)")
            }
            let image = try await ImageFileTests.read(bytes)
            #expect(image?.size == (try ImageSize(width: 64, height: 48)))
            #expect(try await ImageFileTests.read(stripped, mustBeWhole: true) == image)
        }
    }

    @Test("Fields that describe samples stay as they are")
    func fields() async throws {
        for (version, timeBytes) in [(0, 8), (1, 16)] {
            let stripped = try #require(try await HEIFStrip.strip(BuiltSequence { $0.headerVersion = version }.bytes))
            for (kind, lastCount) in [("mvhd", 88), ("tkhd", 72), ("mdhd", 12)] {
                // Version 1 has a longer duration.
                let count = lastCount + version * 4
                let start = try #require(stripped.firstRange(of: Array(kind.utf8))).upperBound + 4
                #expect(stripped[start..<(start + timeBytes)].allSatisfy { $0 == 0 })
                var expected = [UInt8](repeating: 7, count: count)
                if kind == "tkhd" { expected.replaceSubrange((count - 8)..., with: [0, 64, 0, 0, 0, 48, 0, 0]) }
                // The language becomes "und".
                if kind == "mdhd" { expected.replaceSubrange((count - 4)..<(count - 2), with: [0x55, 0xC4]) }
                #expect(stripped[(start + timeBytes)...].starts(with: expected), "\(kind)")
            }
            let entry = try #require(stripped.firstRange(of: Array("hvc1".utf8))).upperBound
            let zeros = [UInt8](repeating: 0, count: 80)
            #expect(stripped[entry...].starts(with: zeros[..<6] + [0, 1] + zeros[..<16] + [0, 64, 0, 48, 0, 72]))
            #expect(stripped[(entry + 36)...].starts(with: [0, 0, 0, 0, 0, 1] + zeros[..<32] + [0, 24, 0xFF, 0xFF]))
            let list = try #require(stripped.firstRange(of: Array("elst".utf8))).upperBound
            #expect(stripped[(list + 8)...].starts(with: Array(repeating: 6, count: 12) + zeros[..<6]))
        }
    }

    @Test(
        "Samples are found in every order of lists",
        arguments: [
            { $0.hasLongOffsets = true },
            { ($0.runs, $0.chunkCount) = ([(1, 1)], 3) },
            { ($0.runs, $0.chunkCount) = ([(1, 3)], 1) },
            { ($0.samples, $0.uniformSize) = (["KEPT one", "KEPT two", "KEPT six"], 8) },
            { $0.trackCount = 16 },
            {
                $0.handler = "auxv"
                $0.inEntry = Boxes.full("auxi", Boxes.text("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"))
            },
            { $0.entryKind = "av01" }, { $0.entryKind = "hev1" },
            { ($0.samples, $0.runs) = (["KEPT one", "KEPT two", ""], [(1, 2), (2, 1)]) },
        ] as [Change]
    )
    func samples(change: Change) async throws {
        var sequence = BuiltSequence { $0.gap = BuiltSequence.secret }
        change(&sequence)
        let stripped = try #require(try await HEIFStrip.strip(sequence.bytes))
        #expect(!stripped.holds("SECRET"))
        for sample in sequence.samples where !sample.isEmpty { #expect(stripped.holds(sample)) }
    }

    @Test(
        "What breaks the format, or is not known, is refused",
        arguments: [
            { $0.missing = ["mvhd"] }, { $0.missing = ["tkhd"] }, { $0.missing = ["mdia"] }, { $0.missing = ["mdhd"] },
            { $0.missing = ["hdlr"] }, { $0.missing = ["minf"] }, { $0.missing = ["stbl"] }, { $0.missing = ["stsd"] },
            { $0.missing = ["stsz"] }, { $0.missing = ["stsc"] }, { $0.missing = ["stco"] },
            { $0.trackCount = 0 }, { $0.trackCount = 17 }, { $0.headerVersion = 2 }, { $0.behindHeaders = [0] },
            { $0.handler = "soun" }, { $0.handler = "text" }, { $0.handler = "meta" }, { $0.handler = "auxv" },
            {
                $0.handler = "auxv"
                $0.inEntry = Boxes.full("auxi", Boxes.text("urn:mpeg:hevc:2015:auxid:2"))
            },
            { $0.entryKind = "jpeg" }, { $0.entryKind = "encv" }, { $0.entryCount = 2 }, { $0.entryCount = 0 },
            { $0.sourceFlags = 0 },
            { ($0.missing, $0.inTable) = (["stsd"], Boxes.full("stsd", [0, 0, 0])) },
            {
                $0.missing = ["stsd"]
                $0.inTable = Boxes.full("stsd", [0, 0, 0, 1] + Boxes.box("hvc1", Array(repeating: 0, count: 77)))
            },
            { ($0.missing, $0.inInformation) = (["dinf"], Boxes.box("dinf", Boxes.full("dref", [0, 0, 0]))) },
            { ($0.missing, $0.inInformation) = (["dinf"], Boxes.box("dinf")) },
            { $0.inTrack = Boxes.box("tref", Boxes.box("thmb", [0, 0, 0, 1])) },
            { $0.inTrack = Boxes.box("tref", Boxes.box("cdsc", [0, 0, 0, 1])) },
            { $0.inTrack = Boxes.box("tref", Boxes.box("auxl", Array(repeating: 1, count: 65))) },
            { $0.inTrack = Boxes.box("mdia") }, { $0.inTrack = Boxes.full("tkhd") },
            { $0.inMovie = Boxes.full("mvhd") },
            { $0.inMovie = Boxes.box("mvex") }, { $0.behindMovie = Boxes.box("moov") },
            { $0.behindMovie = Boxes.box("moof") }, { $0.inMedia = Boxes.box("minf") },
            { $0.inInformation = Boxes.box("stbl") }, { $0.inInformation = Boxes.box("dinf") },
            { $0.inTable = Boxes.full("stz2") }, { $0.inTable = Boxes.full("stts", [0, 0, 0, 0]) },
            { $0.inTable = Boxes.full("stsz", Array(repeating: 0, count: 8)) },
            { $0.inTable = Boxes.full("co64", [0, 0, 0, 0]) },
            { $0.inTable = Boxes.full("ctts", [0, 0, 0, 9]) },
            { $0.sampleCount = 2 }, { $0.sampleCount = 9 }, { $0.runs = [] }, { $0.runs = [(1, 2)] },
            { $0.runs = [(2, 2), (1, 1)] }, { $0.runs = [(0, 2), (2, 1)] }, { $0.runs = [(1, 2), (1, 1)] },
            { $0.runs = [(1, 2), (2, 1), (3, 1)] }, { $0.shift = -1 }, { $0.shift = 1 }, { $0.uniformSize = 9 },
        ] as [Change]
    )
    func refused(change: Change) async throws {
        #expect(try await HEIFStrip.strip(BuiltSequence().bytes) != nil)
        let sequence = BuiltSequence(change)
        #expect(sequence.bytes != BuiltSequence().bytes)
        #expect(try await HEIFStrip.strip(sequence.bytes) == nil)
    }

    @Test("An offset of more than 56 bits is refused, whatever follows its first byte")
    func highByte() async throws {
        var bytes = BuiltSequence { $0.hasLongOffsets = true }.bytes
        #expect(try await HEIFStrip.strip(bytes) != nil)
        bytes[try #require(bytes.firstRange(of: Array("co64".utf8))).upperBound + 8] = 1
        #expect(try await HEIFStrip.strip(bytes) == nil)
    }

    @Test("15,000 samples", arguments: [(15_000, true), (15_001, false)])
    func sampleCount(count: Int, isStripped: Bool) async throws {
        for isUniform in [false, true] {
            let sequence = BuiltSequence {
                $0.samples = Array(repeating: "#", count: count)
                $0.uniformSize = isUniform ? 1 : 0
                ($0.runs, $0.chunkCount) = ([(1, count)], 1)
            }
            #expect((try await HEIFStrip.strip(sequence.bytes) != nil) == isStripped)
        }
    }

    @Test("16 descriptions of samples", arguments: [(15, true), (16, false)])
    func descriptions(others: Int, isStripped: Bool) async throws {
        let entry = Boxes.box("hvc1", Array(repeating: 0, count: 78))
        let bytes = BuiltSequence {
            $0.missing = ["stsd"]
            let all = Array(repeating: entry, count: others + 1).flatMap { $0 }
            $0.inTable = Boxes.full("stsd", Boxes.number(others + 1, 4) + all)
        }.bytes
        #expect((try await HEIFStrip.strip(bytes) != nil) == isStripped)
    }

    @Test("A picture that moves keeps both its still and its samples")
    func stillAndSamples() async throws {
        let bytes = try ImageFileTests.sample("animated-64x48.avif")
        let stripped = try #require(try await HEIFStrip.strip(bytes))
        let data = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
        #expect(stripped[data...] == bytes[data...])
    }
}
