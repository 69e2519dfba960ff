/// Which properties each item has.
///
/// Source: ISO/IEC 14496-12, section 8.11.14 (`ipma`).
struct PropertyUses {
    /// A property's number, from 1, and whether a reader must know it.
    struct Use {
        let number: Int
        let isEssential: Bool
    }

    private(set) var byItem: [Int: [Use]] = [:]
    private var count = 0

    /// Takes a list.
    ///
    /// - Returns: Where the list ends in the file.
    /// - Throws: `NoImage` for more uses than ``ItemProperties/maxUses``, and for an item that is listed twice.
    mutating func read(_ box: FileBox, of file: inout FileBytes) async throws -> Int {
        var fields = try await BoxFields(box, of: &file)
        let version = try fields.number(1)
        guard version <= 1 else { throw NoImage() }
        let numberBytes = try fields.number(3) & 1 == 0 ? 1 : 2
        let essential = numberBytes == 1 ? 0x80 : 0x8000
        for _ in 0..<(try fields.number(4)) {
            let item = try fields.number(version == 0 ? 2 : 4)
            let ownCount = try fields.number(1)
            // An item without a property counts as well.
            count += max(1, ownCount)
            guard count <= ItemProperties.maxUses, byItem[item] == nil else { throw NoImage() }
            var uses: [Use] = []
            for _ in 0..<ownCount {
                let value = try fields.number(numberBytes)
                uses.append(Use(number: value & (essential - 1), isEssential: value & essential != 0))
            }
            byItem[item] = uses
        }
        return fields.offset
    }
}
