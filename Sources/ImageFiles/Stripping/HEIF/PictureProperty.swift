/// Boxes that describe a picture, and stay: of items, and in the sample entries of tracks.
///
/// Sources: ISO/IEC 23008-12, sections 6.5 (`ispe`, `irot`, `imir`, `pixi`, `auxC`, `lsel`) and 7.2 (`ccst`, `auxi`);
/// ISO/IEC 14496-12, sections 8.5.2 (`btrt`) and 12.1 (`clap`, `pasp`, `colr`, `mdcv`, `clli`, `cclv`, `amve`);
/// ISO/IEC 14496-15, section 8.3.3 (`hvcC`); AV1 in ISOBMFF, section 2.3 (`av1C`); the AVIF specification, section 2.3
/// (`a1op`, `a1lx`).
enum PictureProperty {
    /// The kinds whose contents have one length.
    private static let lengths = [
        "ispe": 12, "irot": 1, "imir": 1, "clap": 32, "pasp": 8, "mdcv": 24, "clli": 4, "amve": 8, "lsel": 2, "a1op": 1,
        "ccst": 8, "btrt": 12,
    ]

    /// The kinds whose contents say their length.
    private static let variableKinds: Set<String> = ["hvcC", "av1C", "colr", "pixi", "auxC", "auxi", "a1lx", "cclv"]

    /// The auxiliary pictures that are alpha.
    ///
    /// Sources: ISO/IEC 23008-12, section 6.5.8; MIAF (ISO/IEC 23000-22), section 7.3.5; the AVIF specification,
    /// section 4.1.
    private static let alphaTypes: Set<String> = [
        "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1",
    ]

    /// How many bytes of a box say something of the picture; nil when it says nothing of it.
    ///
    /// What follows them is overwritten.
    static func usedCount(of box: FileBox, _ file: inout FileBytes) async throws -> Int? {
        if let length = lengths[box.kind] { return min(length, box.contents.count) }
        guard variableKinds.contains(box.kind) else { return nil }
        let head = try await box.bytes(min(box.contents.count, 64), of: &file)
        switch box.kind {
        case "auxC", "auxi": return try await isAlpha(box, &file) ? box.contents.count : nil
        case "pixi": return min(5 + head.bigEndian(at: 4, count: 1), box.contents.count)
        case "a1lx": return head.bigEndian(at: 0, count: 1) & 1 == 0 ? min(7, box.contents.count) : box.contents.count
        case "colr" where head.has("nclx", at: 0): return min(11, box.contents.count)
        case "colr" where head.has("prof", at: 0) || head.has("rICC", at: 0):
            // The profile begins with its length.
            return min(4 + head.bigEndian(at: 4, count: 4), box.contents.count)
        case "colr": return nil
        default: return box.contents.count
        }
    }

    /// Whether a box names alpha as the kind of an auxiliary picture.
    static func isAlpha(_ box: FileBox, _ file: inout FileBytes) async throws -> Bool {
        guard ["auxC", "auxi"].contains(box.kind) else { return false }
        let text = try await box.bytes(min(box.contents.count, 64), of: &file).dropFirst(4).prefix { $0 != 0 }
        return alphaTypes.contains(String(decoding: text, as: UTF8.self))
    }
}
