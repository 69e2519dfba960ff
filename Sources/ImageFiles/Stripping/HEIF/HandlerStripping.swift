/// Overwrites the name in a box `hdlr`.
///
/// Source: ISO/IEC 14496-12, section 8.4.3.
enum HandlerStripping {
    /// - Returns: What is handled, such as `pict`.
    static func strip(_ box: FileBox, _ file: inout FileBytes, _ edits: inout FileEdits) async throws -> String {
        var fields = try await BoxFields(box, of: &file)
        _ = try fields.version(atMost: 0)
        // QuickTime has kinds and makers of components in the fields that are reserved.
        let reserved = fields.offset
        _ = try fields.number(4)
        try edits.zero(reserved..<fields.offset)
        let kind = try fields.kind()
        try edits.zero(fields.offset..<box.contents.upperBound)
        return kind
    }
}
