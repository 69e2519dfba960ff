/// Where the data of items is.
///
/// Source: ISO/IEC 14496-12, section 8.11.3 (`iloc`).
struct ItemLocations {
    /// The most extents of all items.
    static let maxExtentCount = 4_096

    /// The ranges of the file that make up an item's data, by the item's number; an empty one is all of its source.
    private(set) var extents: [Int: [Range<Int>]] = [:]
    /// Where the list ends in the file.
    let end: Int

    /// - Parameters:
    ///   - box: The list.
    ///   - data: The box `idat`, if there is one.
    ///   - file: The file.
    /// - Throws: `NoImage` for data in other files or items, for too many items or extents, and for an item that is
    ///   listed twice.
    init(_ box: FileBox, data: FileBox?, of file: inout FileBytes) async throws {
        var fields = try await BoxFields(box, of: &file)
        let version = try fields.version(atMost: 2)
        let sizes = try fields.number(2)
        let (offsetBytes, lengthBytes) = (sizes >> 12, sizes >> 8 & 0xF)
        let (baseBytes, indexBytes) = (sizes >> 4 & 0xF, version == 0 ? 0 : sizes & 0xF)
        guard [offsetBytes, lengthBytes, baseBytes, indexBytes].allSatisfy([0, 4, 8].contains) else { throw NoImage() }
        let count = try fields.number(version == 2 ? 4 : 2)
        guard count <= ItemEntry.maxCount else { throw NoImage() }
        var extentCount = 0
        for _ in 0..<count {
            let id = try fields.number(version == 2 ? 4 : 2)
            let start = try Self.start(method: version == 0 ? 0 : fields.number(2) & 0xF, data: data)
            // Items of this file alone.
            guard try fields.number(2) == 0, extents[id] == nil else { throw NoImage() }
            let base = start + (try fields.number(baseBytes))
            let itemCount = try fields.number(2)
            extentCount += itemCount
            guard extentCount <= Self.maxExtentCount else { throw NoImage() }
            var ranges: [Range<Int>] = []
            for _ in 0..<itemCount {
                _ = try fields.number(indexBytes)
                let offset = base + (try fields.number(offsetBytes))
                ranges.append(offset..<(offset + (try fields.number(lengthBytes))))
            }
            if start > 0, let data {
                guard ranges.allSatisfy({ $0.upperBound <= data.contents.upperBound }) else { throw NoImage() }
            }
            extents[id] = ranges
        }
        end = fields.offset
    }

    /// What offsets are counted from: the file's start, or that of `idat`.
    private static func start(method: Int, data: FileBox?) throws(NoImage) -> Int {
        if method == 0 { return 0 }
        guard method == 1, let data else { throw NoImage() }
        return data.contents.lowerBound
    }
}
