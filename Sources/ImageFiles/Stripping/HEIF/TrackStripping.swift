/// Overwrites what tells of the maker in a track, and keeps its samples.
///
/// Sources: ISO/IEC 14496-12, sections 8.3 (`trak`, `tkhd`, `tref`), 8.4 (`mdia`, `mdhd`, `hdlr`, `minf`), 8.5.1 (`stbl`),
/// 8.6 (`edts`, `elst`), 8.7.2 (`dinf`, `dref`) and 12.1.2 (`vmhd`); ISO/IEC 23008-12, section 7.5.
enum TrackStripping {
    /// - Throws: `NoImage` for tracks other than pictures and their alpha, or for data in other files.
    static func strip(
        _ track: FileBox,
        _ file: inout FileBytes,
        _ edits: inout FileEdits,
        _ data: inout MediaData
    ) async throws {
        let boxes = try await FileBox.all(in: track.contents, of: &file)
        try await MovieStripping.stripHeader(boxes.required("tkhd"), lengths: (84, 96), &file, &edits)
        if let references = try boxes.only("tref") { try await checkReferences(references, &file) }
        if let list = try boxes.only("edts") { try await stripEdits(list, &file, &edits) }
        try await stripMedia(boxes.required("mdia"), &file, &edits, &data)
        for box in boxes where !["tkhd", "tref", "edts", "mdia"].contains(box.kind) { try edits.free(box) }
    }

    private static func stripMedia(
        _ media: FileBox,
        _ file: inout FileBytes,
        _ edits: inout FileEdits,
        _ data: inout MediaData
    ) async throws {
        let boxes = try await FileBox.all(in: media.contents, of: &file)
        try await MovieStripping.stripHeader(boxes.required("mdhd"), lengths: (24, 36), &file, &edits)
        let handler = try await HandlerStripping.strip(boxes.required("hdlr"), &file, &edits)
        guard ["pict", "auxv"].contains(handler) else { throw NoImage() }
        for box in boxes where !["mdhd", "hdlr", "minf"].contains(box.kind) { try edits.free(box) }

        let information = try await FileBox.all(in: boxes.required("minf").contents, of: &file)
        if let header = try information.only("vmhd") {
            try edits.zero((header.contents.lowerBound + min(12, header.contents.count))..<header.contents.upperBound)
        }
        if let sources = try information.only("dinf") { try await stripSources(sources, &file, &edits) }
        for box in information where !["vmhd", "dinf", "stbl"].contains(box.kind) { try edits.free(box) }

        let table = try await FileBox.all(in: information.required("stbl").contents, of: &file)
        let isAuxiliary = handler == "auxv"
        let entries = try table.required("stsd")
        let configuration = try await SampleEntryStripping.strip(entries, isAuxiliary: isAuxiliary, &file, &edits)
        for range in try await SampleTable.strip(table, &file, &edits) {
            try data.keep(range)
            try await configuration?.strip([range], &file, &edits)
        }
    }

    /// A track of thumbnails, or one that describes others, is refused.
    private static func checkReferences(_ references: FileBox, _ file: inout FileBytes) async throws {
        let boxes = try await FileBox.all(in: references.contents, of: &file)
        guard boxes.allSatisfy({ ["auxl", "prem"].contains($0.kind) }) else { throw NoImage() }
        guard boxes.allSatisfy({ $0.contents.count <= 4 * MovieStripping.maxTrackCount }) else { throw NoImage() }
    }

    private static func stripEdits(
        _ container: FileBox,
        _ file: inout FileBytes,
        _ edits: inout FileEdits
    ) async throws {
        let boxes = try await FileBox.all(in: container.contents, of: &file)
        _ = try boxes.only("elst")
        for box in boxes {
            guard box.kind == "elst" else {
                try edits.free(box)
                continue
            }
            var fields = try await BoxFields(box, of: &file)
            let entryBytes = try fields.version(atMost: 1) == 0 ? 12 : 20
            _ = try fields.next(try fields.number(4) * entryBytes)
            try edits.zero(fields.offset..<box.contents.upperBound)
        }
    }

    /// Checks that all samples are in this file.
    private static func stripSources(
        _ container: FileBox,
        _ file: inout FileBytes,
        _ edits: inout FileEdits
    ) async throws {
        let boxes = try await FileBox.all(in: container.contents, of: &file)
        for box in boxes where box.kind != "dref" { try edits.free(box) }
        let list = try boxes.required("dref")
        guard list.contents.count >= 8 else { throw NoImage() }
        let range = (list.contents.lowerBound + 8)..<list.contents.upperBound
        for source in try await FileBox.all(in: range, of: &file) {
            var fields = try await BoxFields(source, of: &file)
            guard source.kind == "url ", try fields.number(4) == 1 else { throw NoImage() }
            try edits.zero(fields.offset..<source.contents.upperBound)
        }
    }
}
