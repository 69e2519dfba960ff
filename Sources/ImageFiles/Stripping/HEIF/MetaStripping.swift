/// Overwrites what is not shown of the items in a box `meta`.
///
/// Sources: ISO/IEC 14496-12, sections 8.4.3 (`hdlr`), 8.11.1 (`meta`) and 8.11.4 (`pitm`); ISO/IEC 23008-12, section 6.2.
enum MetaStripping {
    /// What the data of an item of kind `Exif` becomes: an offset of 0, and a TIFF header with no entries.
    ///
    /// libavif refuses an image whose Exif has no TIFF header. Source: ISO/IEC 23008-12, section A.2.1.
    private static let emptyExif: [UInt8] = [0, 0, 0, 0, 0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0]

    private static let knownKinds: Set<String> = ["hdlr", "pitm", "iinf", "iloc", "iref", "iprp", "idat"]

    static func strip(
        _ meta: FileBox,
        _ file: inout FileBytes,
        _ edits: inout FileEdits,
        _ data: inout MediaData
    ) async throws {
        let boxes = try await FileBox.all(in: meta.contentsAfterVersion, of: &file)
        for box in boxes where !knownKinds.contains(box.kind) { try edits.free(box) }
        guard try await HandlerStripping.strip(boxes.required("hdlr"), &file, &edits) == "pict" else { throw NoImage() }
        let primary = try await primaryItem(boxes.required("pitm"), &file, &edits)

        let itemData = try boxes.only("idat")
        if let itemData { data.add(itemData) }
        let entries = try await ItemEntry.all(in: boxes.required("iinf"), of: &file)
        let list = try boxes.required("iloc")
        let locations = try await ItemLocations(list, data: itemData, of: &file)
        try edits.zero(locations.end..<list.contents.upperBound)
        var references = ItemReferences()
        if let list = try boxes.only("iref") { references = try await ItemReferences(list, of: &file) }
        let properties = try await PropertyList(boxes.required("iprp"), &file, &edits)

        let kept = try ShownItems(
            kinds: Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0.kind) }),
            references: references,
            uses: properties.uses,
            alphaProperties: properties.alpha
        ).find(from: primary)
        try await properties.strip(keeping: kept, &file, &edits)
        var configurations: [Int: CodingConfiguration] = [:]
        for entry in entries {
            try entry.stripTexts(&edits)
            let extents = locations.extents[entry.id] ?? []
            if kept.contains(entry.id) {
                guard !extents.isEmpty || entry.kind == "iden" else { throw NoImage() }
                for extent in extents { try data.keep(extent) }
                if let box = properties.configuration(of: entry.id) {
                    // All tiles of a picture have the same one.
                    let known = configurations[box.start]
                    let own = if let known { known } else { try await CodingConfiguration(box, &file, &edits) }
                    configurations[box.start] = own
                    try await own.strip(extents, &file, &edits)
                }
            } else {
                try drop(entry, extents, &edits, &data)
            }
        }
        let visible = kept.union(entries.filter { $0.kind == "Exif" }.map(\.id))
        for reference in references.entries {
            try edits.zero(reference.end..<reference.box.contents.upperBound)
            // Whoever looks for thumbnails, depth or metadata finds none. libheif refuses Exif of a picture that is hidden.
            if !visible.isSuperset(of: [reference.from] + reference.to) { try edits.rename(reference.box) }
        }
    }

    private static func drop(
        _ entry: ItemEntry,
        _ extents: [Range<Int>],
        _ edits: inout FileEdits,
        _ data: inout MediaData
    ) throws(NoImage) {
        var header: ArraySlice<UInt8> = []
        if entry.kind == "Exif" { header = emptyExif[...] } else { try entry.hide(&edits) }
        for extent in extents where !extent.isEmpty {
            try data.drop(extent, writing: header.prefix(extent.count), &edits)
            header = header.dropFirst(extent.count)
        }
    }

    private static func primaryItem(
        _ box: FileBox,
        _ file: inout FileBytes,
        _ edits: inout FileEdits
    ) async throws -> Int {
        var fields = try await BoxFields(box, of: &file)
        let version = try fields.version(atMost: 1)
        let item = try fields.number(version == 0 ? 2 : 4)
        try edits.zero(fields.offset..<box.contents.upperBound)
        return item
    }
}
