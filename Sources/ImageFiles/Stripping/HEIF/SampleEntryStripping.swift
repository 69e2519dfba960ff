/// Overwrites names of programs in the descriptions of a track's samples.
///
/// Sources: ISO/IEC 14496-12, sections 8.5.2 (`stsd`) and 12.1.3 (`VisualSampleEntry`); ISO/IEC 23008-12, section 7.5.3.
enum SampleEntryStripping {
    /// The most descriptions.
    static let maxCount = 16

    /// - Returns: How the samples are coded, if it says so.
    /// - Throws: `NoImage` for samples that are neither HEVC nor AV1, and for auxiliary ones that are no alpha.
    static func strip(
        _ list: FileBox,
        isAuxiliary: Bool,
        _ file: inout FileBytes,
        _ edits: inout FileEdits
    ) async throws -> CodingConfiguration? {
        guard list.contents.count >= 8 else { throw NoImage() }
        let range = (list.contents.lowerBound + 8)..<list.contents.upperBound
        let entries = try await FileBox.all(in: range, of: &file)
        let count = try await list.bytes(8, of: &file).bigEndian(at: 4, count: 4)
        guard (1...maxCount).contains(count), entries.count == count else { throw NoImage() }
        var configurations: Set<CodingConfiguration> = []
        for entry in entries {
            guard ["av01", "hvc1", "hev1"].contains(entry.kind), entry.contents.count >= 78 else { throw NoImage() }
            let start = entry.contents.lowerBound
            // QuickTime's version, maker and quality; reserved bytes; the name of the compressor.
            for field in [0..<6, 8..<24, 36..<40, 42..<74] {
                try edits.zero((start + field.lowerBound)..<(start + field.upperBound))
            }
            var isAlpha = false
            for box in try await FileBox.all(in: (start + 78)..<entry.contents.upperBound, of: &file) {
                guard let used = try await PictureProperty.usedCount(of: box, &file) else {
                    try edits.free(box)
                    continue
                }
                if box.kind == "auxi" { isAlpha = true }
                if CodingConfiguration.kinds.contains(box.kind) {
                    configurations.insert(try await CodingConfiguration(box, &file, &edits))
                    continue
                }
                try edits.zero((box.contents.lowerBound + used)..<box.contents.upperBound)
            }
            guard isAlpha || !isAuxiliary else { throw NoImage() }
        }
        guard configurations.count <= 1 else { throw NoImage() }
        return configurations.first
    }
}
