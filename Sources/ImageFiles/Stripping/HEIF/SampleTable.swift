/// Finds where a track's samples are.
///
/// Sources: ISO/IEC 14496-12, sections 8.6.1 (`stts`, `ctts`, `cslg`), 8.6.2 (`stss`), 8.7.3 (`stsz`), 8.7.4 (`stsc`) and
/// 8.7.5 (`stco`, `co64`).
enum SampleTable {
    /// The most samples of a track: ten minutes of 25 pictures a second.
    static let maxSampleCount = 15_000

    /// The lists, with how many bytes an entry has.
    private static let entryBytes = ["stts": 8, "ctts": 8, "stss": 4, "stsc": 12, "stco": 4, "co64": 8]
    private static let otherKinds: Set<String> = ["stsd", "stsz", "cslg"]

    /// Frees the boxes that are not known.
    ///
    /// - Parameters:
    ///   - boxes: The contents of the box `stbl`.
    ///   - file: The file.
    ///   - edits: Takes the edits.
    /// - Returns: The ranges of chunks, which hold one or more samples each.
    /// - Throws: `NoImage` when the lists do not agree, or for too many samples.
    static func strip(
        _ boxes: [FileBox],
        _ file: inout FileBytes,
        _ edits: inout FileEdits
    ) async throws -> [Range<Int>] {
        guard try boxes.only("stz2") == nil else { throw NoImage() }
        for box in boxes {
            if let bytes = entryBytes[box.kind] {
                _ = try boxes.only(box.kind)
                var fields = try await BoxFields(box, of: &file)
                _ = try fields.version(atMost: 1)
                _ = try fields.next(try fields.number(4) * bytes)
                try edits.zero(fields.offset..<box.contents.upperBound)
            } else if box.kind == "cslg" {
                let length = try await box.bytes(4, of: &file).first == 0 ? 24 : 44
                try edits.zero((box.contents.lowerBound + min(length, box.contents.count))..<box.contents.upperBound)
            } else if !otherKinds.contains(box.kind) {
                try edits.free(box)
            }
        }
        let sizes = try await sampleSizes(boxes.required("stsz"), &file, &edits)
        let offsets = try await chunkOffsets(boxes, &file)
        let counts = try await samplesPerChunk(boxes.required("stsc"), chunkCount: offsets.count, &file)
        var (ranges, index) = ([Range<Int>](), 0)
        for (offset, count) in zip(offsets, counts) {
            guard count <= sizes.count - index else { throw NoImage() }
            let length = sizes[index..<(index + count)].reduce(0, +)
            index += count
            if length > 0 { ranges.append(offset..<(offset + length)) }
        }
        guard index == sizes.count else { throw NoImage() }
        return ranges
    }

    private static func sampleSizes(
        _ box: FileBox,
        _ file: inout FileBytes,
        _ edits: inout FileEdits
    ) async throws -> [Int] {
        var fields = try await BoxFields(box, of: &file)
        _ = try fields.version(atMost: 0)
        let size = try fields.number(4)
        let count = try fields.number(4)
        guard count <= maxSampleCount else { throw NoImage() }
        var sizes = [Int](repeating: size, count: count)
        if size == 0 {
            for index in 0..<count { sizes[index] = try fields.number(4) }
        }
        try edits.zero(fields.offset..<box.contents.upperBound)
        return sizes
    }

    private static func chunkOffsets(_ boxes: [FileBox], _ file: inout FileBytes) async throws -> [Int] {
        let (short, long) = (try boxes.only("stco"), try boxes.only("co64"))
        guard let box = short ?? long, short == nil || long == nil else { throw NoImage() }
        var fields = try await BoxFields(box, of: &file)
        _ = try fields.number(4)
        var offsets: [Int] = []
        for _ in 0..<(try fields.number(4)) { offsets.append(try fields.number(box.kind == "stco" ? 4 : 8)) }
        return offsets
    }

    /// How many samples each chunk has.
    ///
    /// The list says it for the first chunk of each run.
    private static func samplesPerChunk(
        _ box: FileBox,
        chunkCount: Int,
        _ file: inout FileBytes
    ) async throws -> [Int] {
        var fields = try await BoxFields(box, of: &file)
        _ = try fields.number(4)
        var (counts, current) = ([Int](), 0)
        for _ in 0..<(try fields.number(4)) {
            let first = try fields.number(4)
            guard first > counts.count, first <= chunkCount else { throw NoImage() }
            while counts.count < first - 1 { counts.append(current) }
            current = try fields.number(4)
            _ = try fields.number(4)
        }
        while counts.count < chunkCount { counts.append(current) }
        return counts
    }
}
