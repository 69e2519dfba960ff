/// Overwrites what tells of the maker in the box `moov` of a sequence.
///
/// Sources: ISO/IEC 14496-12, sections 8.2 (`moov`, `mvhd`) and 8.8.1 (`mvex`); ISO/IEC 23008-12, section 7.
enum MovieStripping {
    /// The most tracks.
    ///
    /// A sequence has two at most: colour and alpha.
    static let maxTrackCount = 16

    /// - Throws: `NoImage` for a movie in fragments, one without tracks, or a track that has no pictures.
    static func strip(
        _ movie: FileBox,
        _ file: inout FileBytes,
        _ edits: inout FileEdits,
        _ data: inout MediaData
    ) async throws {
        let boxes = try await FileBox.all(in: movie.contents, of: &file)
        guard try boxes.only("mvex") == nil else { throw NoImage() }
        try await stripHeader(boxes.required("mvhd"), lengths: (100, 112), &file, &edits)
        let tracks = boxes.filter { $0.kind == "trak" }
        guard (1...maxTrackCount).contains(tracks.count) else { throw NoImage() }
        for track in tracks { try await TrackStripping.strip(track, &file, &edits, &data) }
        for box in boxes where !["mvhd", "trak"].contains(box.kind) { try edits.free(box) }
    }

    /// Overwrites the times of making and of change.
    ///
    /// - Parameters:
    ///   - box: An `mvhd`, `tkhd` or `mdhd`.
    ///   - lengths: How many bytes the contents of versions 0 and 1 have.
    ///   - file: The file.
    ///   - edits: Takes the edits.
    /// - Throws: `NoImage` for another length.
    static func stripHeader(
        _ box: FileBox,
        lengths: (Int, Int),
        _ file: inout FileBytes,
        _ edits: inout FileEdits
    ) async throws {
        var fields = try await BoxFields(box, of: &file)
        let version = try fields.version(atMost: 1)
        let times = fields.offset
        _ = try fields.next(version == 0 ? 8 : 16)
        try edits.zero(times..<fields.offset)
        // Readers take the size of a track's pictures from the end of its header.
        guard box.contents.count == (version == 0 ? lengths.0 : lengths.1) else { throw NoImage() }
        if box.kind == "mdhd" {
            // The language is "und": undetermined.
            try edits.overwrite(at: box.contents.upperBound - 4, with: [0x55, 0xC4])
        }
    }
}
