/// Overwrites user data in AV1.
///
/// Source: the AV1 bitstream specification, sections 5.3 (OBU), 5.8 and 6.7 (metadata OBU).
enum AV1Stripping {
    private static let metadataType: UInt8 = 5
    private static let paddingType: UInt8 = 15
    /// Metadata that says how bright a picture is, or how its layers are: `HDR_CLL`, `HDR_MDCV` and `SCALABILITY`.
    private static let keptMetadata = 1...3

    /// Makes metadata OBUs padding, but for those that say how to show a picture.
    ///
    /// - Throws: `NoImage` when an OBU does not fit.
    static func strip(_ data: inout CodedData, _ file: inout FileBytes, _ edits: inout FileEdits) async throws {
        var offset = 0
        while offset < data.count {
            let unit = offset
            try edits.countUnit()
            guard let head = try await data.bytes(at: unit, count: 1, &file).first else { throw NoImage() }
            // A head has a second byte for layers, and a length.
            offset += head & 4 == 0 ? 1 : 2
            var end = data.count
            if head & 2 != 0 {
                let length = try await number(at: &offset, of: &data, &file)
                guard length <= data.count - offset else { throw NoImage() }
                end = offset + length
            }
            let type = head >> 3 & 0xF
            if [metadataType, paddingType].contains(type), offset < end {
                var contents = offset
                let metadata = type == paddingType ? nil : try await number(at: &contents, of: &data, &file)
                if metadata.map(keptMetadata.contains) != true {
                    try data.overwrite(at: unit, with: [head & 0x87 | paddingType << 3], &edits)
                    try data.zero(offset..<(end - 1), &edits)
                    // One bit ends the padding.
                    try data.overwrite(at: end - 1, with: [0x80], &edits)
                }
            }
            offset = end
        }
    }

    /// A number in LEB128.
    private static func number(
        at offset: inout Int,
        of data: inout CodedData,
        _ file: inout FileBytes
    ) async throws -> Int {
        var value = 0
        for index in 0..<8 {
            guard let byte = try await data.bytes(at: offset, count: 1, &file).first else { throw NoImage() }
            offset += 1
            value |= Int(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 { return value }
        }
        throw NoImage()
    }
}
