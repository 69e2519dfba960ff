@testable import ImageFiles

/// A sequence of pictures without items, which a test changes and writes.
struct BuiltSequence {
    /// The times and all that may be personal are of these bytes.
    static let secret = Array("SECRET".utf8)

    var handler = "pict"
    /// Of `mvhd`, `tkhd` and `mdhd`.
    var headerVersion = 0
    var samples = ["KEPT one", "KEPT two", "KEPT 3"]
    /// How many samples each run of chunks has, by its first chunk.
    var runs = [(1, 2), (2, 1)]
    var chunkCount = 2
    var hasLongOffsets = false
    /// The size of all samples, instead of a list.
    var uniformSize = 0
    var sampleCount: Int?
    var entryKind = "hvc1"
    var entryCount = 1
    /// Boxes in the sample entry, `stbl`, `minf`, `mdia`, `trak`, `moov`, and behind it.
    var inEntry: [UInt8] = []
    var inTable: [UInt8] = []
    var inInformation: [UInt8] = []
    var inMedia: [UInt8] = []
    var inTrack: [UInt8] = []
    var inMovie: [UInt8] = []
    var behindMovie: [UInt8] = []
    var sourceFlags = 1
    var behindHeaders: [UInt8] = []
    var trackCount = 1
    var gap: [UInt8] = []
    var missing: Set<String> = []
    /// How far the chunks are from where the samples are.
    var shift = 0

    init(_ change: (inout BuiltSequence) -> Void = { _ in }) { change(&self) }

    var bytes: [UInt8] {
        let count = head(dataOffset: 0).count
        return head(dataOffset: count + 8) + Boxes.box("mdat", gap + chunks.flatMap { $0 + gap })
    }

    /// The samples, one chunk after another.
    private var chunks: [[UInt8]] {
        var (chunks, index) = ([[UInt8]](), 0)
        for chunk in 0..<chunkCount {
            let count = runs.last { $0.0 <= chunk + 1 }?.1 ?? 0
            let end = min(index + count, samples.count)
            chunks.append(samples[index..<end].flatMap { Array($0.utf8) })
            index = end
        }
        return chunks
    }

    private func head(dataOffset: Int) -> [UInt8] {
        let tracks = (0..<trackCount).flatMap { _ in track(dataOffset) }
        let movie = part("mvhd", header("mvhd", lengths: (100, 112))) + tracks + inMovie
        return Boxes.box("ftyp", Array("msf1\0\0\0\0hevc".utf8)) + Boxes.box("moov", movie) + behindMovie
    }

    /// A header whose times are personal, and the fields behind them other.
    private func header(_ kind: String, lengths: (Int, Int)) -> [UInt8] {
        let (times, length) = headerVersion == 0 ? ("SECRET s", lengths.0) : ("SECRET secretive", lengths.1)
        var fields = Array(times.utf8)
        fields += Array(repeating: 7, count: length - 4 - fields.count)
        // The width and height of tkhd.
        if kind == "tkhd" { fields.replaceSubrange((fields.count - 8)..., with: [0, 64, 0, 0, 0, 48, 0, 0]) }
        return Boxes.full(kind, version: headerVersion, fields + behindHeaders)
    }

    private func part(_ kind: String, _ box: [UInt8]) -> [UInt8] { missing.contains(kind) ? [] : box }

    private func track(_ dataOffset: Int) -> [UInt8] {
        let source = Boxes.full("url ", flags: sourceFlags, Self.secret)
        let sourceList = Boxes.full("dref", Boxes.number(1, 4) + source)
        let sources = part("dinf", Boxes.box("dinf", sourceList + Boxes.box("abcd", Self.secret)))
        let information =
            Boxes.full("vmhd", flags: 1, Array(repeating: 0, count: 8) + Self.secret) + sources
            + part("stbl", Boxes.box("stbl", table(dataOffset))) + inInformation
        let name = Array("SECRET maker, name\0".utf8)
        let media =
            part("mdhd", header("mdhd", lengths: (24, 36)))
            + part("hdlr", Boxes.full("hdlr", Array("mhlr".utf8) + handler.utf8 + name))
            + part("minf", Boxes.box("minf", information)) + inMedia
        let list = Boxes.full("elst", Boxes.number(1, 4) + Array(repeating: 6, count: 12) + Self.secret)
        return Boxes.box(
            "trak",
            part("tkhd", header("tkhd", lengths: (84, 96))) + Boxes.box("edts", list + Boxes.box("abcd", Self.secret))
                + part("mdia", Boxes.box("mdia", media)) + inTrack
        )
    }

    private func table(_ dataOffset: Int) -> [UInt8] {
        let sizes = uniformSize > 0 ? [] : samples.flatMap { Boxes.number($0.utf8.count, 4) }
        let count = Boxes.number(sampleCount ?? samples.count, 4)
        var offset = dataOffset + gap.count + shift
        var offsets: [UInt8] = []
        for chunk in chunks {
            offsets += Boxes.number(offset, hasLongOffsets ? 8 : 4)
            offset += chunk.count + gap.count
        }
        let runBytes = runs.flatMap { Boxes.number($0.0, 4) + Boxes.number($0.1, 4) + Boxes.number(1, 4) }
        return part("stsd", descriptions)
            + Boxes.full("stts", Boxes.number(1, 4) + count + Boxes.number(10, 4) + Self.secret)
            + part("stsz", Boxes.full("stsz", Boxes.number(uniformSize, 4) + count + sizes + Self.secret))
            + part("stsc", Boxes.full("stsc", Boxes.number(runs.count, 4) + runBytes + Self.secret))
            + part(
                "stco",
                Boxes.full(hasLongOffsets ? "co64" : "stco", Boxes.number(chunkCount, 4) + offsets + Self.secret)
            ) + inTable
    }

    private var descriptions: [UInt8] {
        var fields = Array("SECRET\0\u{1}SECRET BY SECRET".utf8) + Boxes.number(64, 2) + Boxes.number(48, 2)
        fields += [0, 72, 0, 0, 0, 72, 0, 0] + Array("SECR\0\u{1}\u{9}SECRET by a program of a maker".utf8)
        fields += Array(repeating: 0, count: 78 - 4 - fields.count) + [0, 24, 0xFF, 0xFF]
        return Boxes.full("stsd", Boxes.number(entryCount, 4) + Boxes.box(entryKind, fields + inEntry))
    }
}
