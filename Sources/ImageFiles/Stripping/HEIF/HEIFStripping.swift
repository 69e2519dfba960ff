/// Overwrites what tells of the maker in a HEIC, HEIF or AVIF.
///
/// The file keeps its length, so that no offset in it moves. The primary item stays, with the items that it is made of and
/// their alpha. So do the samples of tracks of pictures. All else becomes zeros: metadata, thumbnails, depth, gain maps, other
/// pictures, and unknown boxes.
///
/// Sources: ISO/IEC 14496-12, sections 4.2 and 4.3 (boxes, `ftyp`), 8.1.1 (`mdat`), 8.2.1 (`moov`) and 8.11.1 (`meta`);
/// ISO/IEC 23008-12, sections 6 and 7; the AVIF specification takes them over.
enum HEIFStripping {
    /// The most boxes with data (`mdat`).
    ///
    /// Most files have one.
    static let maxDataBoxCount = 256

    static func strip(_ file: inout FileBytes, into pieces: inout PieceList) async throws {
        var edits = FileEdits()
        let boxes = try await topLevelBoxes(&file, &edits)
        guard boxes.first?.kind == "ftyp", try boxes.only("moof") == nil else { throw NoImage() }
        let (meta, movie) = (try boxes.only("meta"), try boxes.only("moov"))
        guard meta != nil || movie != nil else { throw NoImage() }
        for box in boxes where !["ftyp", "meta", "moov", "mdat"].contains(box.kind) { try edits.free(box) }
        let dataBoxes = boxes.filter { $0.kind == "mdat" }
        guard dataBoxes.count <= maxDataBoxCount else { throw NoImage() }
        var data = MediaData(dataBoxes.map(\.contents))
        if let meta { try await MetaStripping.strip(meta, &file, &edits, &data) }
        if let movie { try await MovieStripping.strip(movie, &file, &edits, &data) }
        try data.strip(&edits)
        try await edits.write(&file, into: &pieces)
    }

    /// The file's boxes.
    ///
    /// Some cameras put bytes of their own behind them, or a second file with the video of a moving photo. These become a
    /// free box.
    private static func topLevelBoxes(_ file: inout FileBytes, _ edits: inout FileEdits) async throws -> [FileBox] {
        var boxes: [FileBox] = []
        var (offset, hasPictures) = (0, false)
        while offset < file.length {
            guard let box = try await topLevelBox(at: offset, &file) else {
                try freeTail(offset..<file.length, &edits)
                break
            }
            if box.kind == "ftyp", hasPictures {
                try freeTail(offset..<file.length, &edits)
                break
            }
            if ["meta", "moov"].contains(box.kind) { hasPictures = true }
            try boxes.add(box)
            offset = box.contents.upperBound
        }
        _ = try boxes.required("ftyp")
        return boxes
    }

    /// A box; nil when the bytes are none.
    ///
    /// - Throws: `NoImage` when a box that an image needs ends beyond the file.
    private static func topLevelBox(at offset: Int, _ file: inout FileBytes) async throws -> FileBox? {
        let box: FileBox
        do {
            box = try await FileBox.read(at: offset, end: file.length, of: &file)
        } catch is NoImage {
            return nil
        }
        if box.contents.upperBound <= file.length { return box }
        guard !["ftyp", "meta", "moov", "mdat", "moof"].contains(box.kind) else { throw NoImage() }
        return nil
    }

    private static func freeTail(_ tail: Range<Int>, _ edits: inout FileEdits) throws(NoImage) {
        // Bytes without room for the head of a box are zeros.
        guard tail.count >= 8 else { return try edits.zero(tail) }
        guard let length = UInt32(exactly: tail.count) else { throw NoImage() }
        let head = withUnsafeBytes(of: length.bigEndian, Array.init) + Array("free".utf8)
        try edits.overwrite(at: tail.lowerBound, with: head)
        try edits.zero((tail.lowerBound + head.count)..<tail.upperBound)
    }
}
