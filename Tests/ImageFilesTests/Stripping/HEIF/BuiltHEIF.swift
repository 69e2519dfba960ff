@testable import ImageFiles

/// A HEIF with items, which a test changes and writes.
struct BuiltHEIF {
    struct Item {
        var id: Int
        var kind = "hvc1"
        /// The name, and what follows it in the entry.
        var texts: [UInt8] = [0]
        var data: [UInt8] = []
        /// The numbers of properties, with the highest bit for those that a reader must know.
        var properties: [UInt8] = [1]
        var version = 2
        var flags = 0
        var protection = 0
        /// 1 puts the data into `idat`.
        var method = 0
        var dataReference = 0
        /// In how many extents the data is; an item without any has none.
        var extentCount = 1
        /// How far the extents are from where the data is.
        var shift = 0

        init(_ id: Int, _ kind: String = "hvc1", data: String = "", _ change: (inout Item) -> Void = { _ in }) {
            self.id = id
            self.kind = kind
            self.data = Array((data.isEmpty ? "data of \(id)" : data).utf8)
            change(&self)
        }
    }

    struct Reference {
        let kind: String
        let from: Int
        let to: [Int]

        init(_ kind: String, from: Int, to: Int...) { self.init(kind, from: from, to: to) }

        init(_ kind: String, from: Int, to: [Int]) {
            (self.kind, self.from, self.to) = (kind, from, to)
        }
    }

    var items = [Item(1)]
    var references: [Reference] = []
    var properties = [Boxes.sizeProperty(64, 48)]
    var primary = 1
    var handler = Array("\0\0\0\0pict".utf8) + [UInt8](repeating: 0, count: 13)
    /// Between the data of items.
    var gap: [UInt8] = []
    /// Boxes at the end of `meta`, behind it, and behind all.
    var inMeta: [UInt8] = []
    var behindMeta: [UInt8] = []
    var tail: [UInt8] = []
    /// Boxes of `meta` that are left out.
    var missing: Set<String> = []
    var locationVersion = 1

    var bytes: [UInt8] {
        // The offsets are known when the length of all in front of the data is.
        let headCount = head(dataOffset: 0).count
        return head(dataOffset: headCount + 8) + Boxes.box("mdat", data(method: 0)) + tail
    }

    private func head(dataOffset: Int) -> [UInt8] {
        let all: [(String, [UInt8])] = [
            ("hdlr", Boxes.full("hdlr", handler)),
            ("pitm", Boxes.full("pitm", Boxes.number(primary, 2))),
            ("iinf", entryList), ("iloc", locationList(dataOffset)), ("iref", referenceList), ("iprp", propertyList),
            ("idat", Boxes.box("idat", data(method: 1))),
        ]
        let boxes = all.filter { !missing.contains($0.0) }.flatMap(\.1)
        return Boxes.box("ftyp", Array("heic\0\0\0\0mif1heic".utf8)) + Boxes.full("meta", boxes + inMeta) + behindMeta
    }

    private func data(method: Int) -> [UInt8] {
        gap + items.filter { ($0.method == 1) == (method == 1) }.flatMap { $0.data + gap }
    }

    var entryList: [UInt8] {
        let entries = items.flatMap { item in
            Boxes.full(
                "infe",
                version: item.version,
                flags: item.flags,
                Boxes.number(item.id, item.version == 2 ? 2 : 4) + Boxes.number(item.protection, 2)
                    + Array(item.kind.utf8) + item.texts
            )
        }
        return Boxes.full("iinf", Boxes.number(items.count, 2) + entries)
    }

    func locationList(_ dataOffset: Int) -> [UInt8] {
        var offsets = [0: dataOffset + gap.count, 1: gap.count]
        var list = Boxes.number(0x4400, 2) + Boxes.number(items.count, locationVersion == 2 ? 4 : 2)
        for item in items {
            let offset = offsets[item.method == 1 ? 1 : 0, default: 0] + item.shift
            list += Boxes.number(item.id, locationVersion == 2 ? 4 : 2)
            if locationVersion > 0 { list += Boxes.number(item.method, 2) }
            list += Boxes.number(item.dataReference, 2) + Boxes.number(item.extentCount, 2)
            for index in 0..<item.extentCount {
                let start = item.data.count * index / item.extentCount
                let end = item.data.count * (index + 1) / item.extentCount
                list += Boxes.number(offset + start, 4) + Boxes.number(end - start, 4)
            }
            offsets[item.method == 1 ? 1 : 0, default: 0] += item.data.count + gap.count
        }
        return Boxes.full("iloc", version: locationVersion, list)
    }

    private var referenceList: [UInt8] {
        let boxes = references.flatMap { reference in
            Boxes.box(
                reference.kind,
                Boxes.number(reference.from, 2) + Boxes.number(reference.to.count, 2)
                    + reference.to.flatMap { Boxes.number($0, 2) }
            )
        }
        return Boxes.full("iref", boxes)
    }

    private var propertyList: [UInt8] {
        let uses = items.flatMap { Boxes.number($0.id, 2) + [UInt8($0.properties.count)] + $0.properties }
        return Boxes.box(
            "iprp",
            Boxes.box("ipco", properties.flatMap { $0 }) + Boxes.full("ipma", Boxes.number(items.count, 4) + uses)
        )
    }

    init(_ change: (inout BuiltHEIF) -> Void = { _ in }) { change(&self) }
}
