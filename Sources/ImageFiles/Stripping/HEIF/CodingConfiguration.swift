/// How pictures are coded, as a box `hvcC` or `av1C` says.
///
/// Sources: ISO/IEC 14496-15, section 8.3.3.1 (`HEVCDecoderConfigurationRecord`); AV1 in ISOBMFF, section 2.3.
enum CodingConfiguration: Hashable {
    /// HEVC; each NAL unit begins with its length, in so many bytes.
    case hevc(lengthBytes: Int)
    case av1

    static let kinds: Set<String> = ["hvcC", "av1C"]

    /// Reads a box, and overwrites user data in it.
    init(_ box: FileBox, _ file: inout FileBytes, _ edits: inout FileEdits) async throws {
        if box.kind == "av1C" {
            self = .av1
            guard box.contents.count >= 4 else { throw NoImage() }
            try await strip([(box.contents.lowerBound + 4)..<box.contents.upperBound], &file, &edits)
            return
        }
        var fields = try await BoxFields(box, of: &file)
        _ = try fields.next(21)
        self = .hevc(lengthBytes: try fields.number(1) & 3 + 1)
        for _ in 0..<(try fields.number(1)) {
            _ = try fields.number(1)
            for _ in 0..<(try fields.number(2)) {
                let length = try fields.number(2)
                let unit = fields.offset..<(fields.offset + length)
                _ = try fields.next(length)
                try await HEVCStripping.stripUnit(0..<length, of: CodedData([unit]), &file, &edits)
            }
        }
        try edits.zero(fields.offset..<box.contents.upperBound)
    }

    /// Overwrites user data in coded pictures.
    ///
    /// - Throws: `NoImage` when their units do not fit.
    func strip(_ extents: [Range<Int>], _ file: inout FileBytes, _ edits: inout FileEdits) async throws {
        var data = CodedData(extents)
        switch self {
        case .hevc(let lengthBytes):
            var offset = 0
            while offset < data.count {
                try edits.countUnit()
                let head = try await data.bytes(at: offset, count: lengthBytes, &file)
                let start = offset + lengthBytes
                offset = start + head.bigEndian(at: 0, count: lengthBytes)
                guard offset <= data.count else { throw NoImage() }
                try await HEVCStripping.stripUnit(start..<offset, of: data, &file, &edits)
            }
        case .av1: try await AV1Stripping.strip(&data, &file, &edits)
        }
    }
}
