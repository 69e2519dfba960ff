/// The properties of items in a box `meta`, as far as the size of the primary item needs them.
///
/// Source: ISO/IEC 23008-12, sections 6.5 and 9.3.
struct ItemProperties {
    private enum Property {
        case size(ImageSize)
        /// The part that is shown.
        case crop(width: Int, height: Int)
        case rotation(quarters: Int)
        case other
    }

    /// The most uses of properties by items that are looked at.
    ///
    /// An image of fifty tiles has some two hundred. Without a limit, a file could fill the memory with them.
    static let maxUses = 16_384

    private var primaryItem: Int?
    private var properties: [Property] = []
    /// The numbers of each item's properties, from 1, in the order of their use.
    private var numbersByItem: [Int: [Int]] = [:]
    private var useCount = 0

    /// Takes a box of `meta`'s contents.
    mutating func read(_ box: FileBox, of file: inout FileBytes) async throws {
        switch box.kind {
        case "hdlr":
            guard try await box.bytes(12, of: &file).has("pict", at: 8) else { throw NoImage() }
        case "pitm":
            let bytes = try await box.bytes(of: &file)
            let count = bytes.first == 0 ? 2 : 4
            guard bytes.count >= 4 + count else { throw NoImage() }
            primaryItem = bytes.bigEndian(at: 4, count: count)
        case "iprp":
            var container = self
            try await FileBox.forEach(in: box.contents, of: &file) { box, file in
                switch box.kind {
                case "ipco": container.properties += try await Self.properties(box, of: &file)
                case "ipma": try container.addUses(try await box.bytes(of: &file))
                default: break
                }
                return true
            }
            self = container
        default: break
        }
    }

    /// The primary item's size, cropped and turned as it is to be shown.
    func sizeOfPrimaryItem() throws(NoImage) -> ImageSize {
        guard let primaryItem, let numbers = numbersByItem[primaryItem] else { throw NoImage() }
        var size: ImageSize?
        for number in numbers where properties.indices.contains(number - 1) {
            switch properties[number - 1] {
            case .size(let own): size = size ?? own
            case .crop(let width, let height): size = try ImageSize(width: width, height: height)
            case .rotation(let quarters): if quarters % 2 == 1 { size = size?.turned }
            case .other: break
            }
        }
        guard let size else { throw NoImage() }
        return size
    }

    private static func properties(_ container: FileBox, of file: inout FileBytes) async throws -> [Property] {
        var properties: [Property] = []
        try await FileBox.forEach(in: container.contents, of: &file) { box, file in
            switch box.kind {
            case "ispe":
                let bytes = try await box.bytes(12, of: &file)
                properties.append(
                    .size(
                        try ImageSize(width: bytes.bigEndian(at: 4, count: 4), height: bytes.bigEndian(at: 8, count: 4))
                    )
                )
            case "clap":
                // Fractions: a whole number of pixels, since no decoder shows parts of one.
                let bytes = try await box.bytes(16, of: &file)
                let (widthDivisor, heightDivisor) = (
                    bytes.bigEndian(at: 4, count: 4), bytes.bigEndian(at: 12, count: 4)
                )
                guard widthDivisor > 0, heightDivisor > 0 else { throw NoImage() }
                properties.append(
                    .crop(
                        width: bytes.bigEndian(at: 0, count: 4) / widthDivisor,
                        height: bytes.bigEndian(at: 8, count: 4) / heightDivisor
                    )
                )
            case "irot":
                properties.append(.rotation(quarters: Int(try await box.bytes(1, of: &file).first ?? 0) & 0x03))
            default: properties.append(.other)
            }
            return true
        }
        return properties
    }

    /// Takes the contents of a box `ipma`: which properties each item has.
    private mutating func addUses(_ bytes: ArraySlice<UInt8>) throws(NoImage) {
        guard bytes.count >= 8 else { throw NoImage() }
        let itemBytes = bytes.bigEndian(at: 0, count: 1) < 1 ? 2 : 4
        // The highest bit says only that a reader must know the property.
        let (numberBytes, mask) = bytes.bigEndian(at: 3, count: 1) & 1 == 0 ? (1, 0x7F) : (2, 0x7FFF)
        var offset = 8
        for _ in 0..<bytes.bigEndian(at: 4, count: 4) {
            guard bytes.count > offset + itemBytes else { throw NoImage() }
            let item = bytes.bigEndian(at: offset, count: itemBytes)
            let count = bytes.bigEndian(at: offset + itemBytes, count: 1)
            offset += itemBytes + 1
            guard bytes.count >= offset + count * numberBytes else { throw NoImage() }
            // An item without a property counts as well.
            useCount += max(1, count)
            guard useCount <= Self.maxUses else { throw NoImage() }
            for _ in 0..<count {
                numbersByItem[item, default: []].append(bytes.bigEndian(at: offset, count: numberBytes) & mask)
                offset += numberBytes
            }
        }
    }
}
