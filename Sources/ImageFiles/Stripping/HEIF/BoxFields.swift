/// Reads the fields of a box, one after another.
struct BoxFields {
    private let bytes: ArraySlice<UInt8>
    private let start: Int
    private var readCount = 0

    /// - Throws: `NoImage` for contents of more than ``FileBytes/maxPieceBytes``.
    init(_ box: FileBox, of file: inout FileBytes) async throws {
        bytes = try await box.bytes(of: &file)
        start = box.contents.lowerBound
    }

    /// Where the next field is in the file.
    var offset: Int { start + readCount }
    /// How many bytes are left.
    var count: Int { bytes.count - readCount }

    /// The next field, which has at most eight bytes.
    ///
    /// - Throws: `NoImage` when the box ends before, or for a number that no file is as long as.
    mutating func number(_ byteCount: Int) throws(NoImage) -> Int {
        let field = try next(byteCount)
        guard byteCount < 8 || field.first == 0 else { throw NoImage() }
        return field.bigEndian(at: max(0, byteCount - 7), count: 7)
    }

    /// The next four letters.
    mutating func kind() throws(NoImage) -> String { String(decoding: try next(4), as: UTF8.self) }

    /// The next bytes.
    mutating func next(_ byteCount: Int) throws(NoImage) -> ArraySlice<UInt8> {
        guard byteCount <= count else { throw NoImage() }
        defer { readCount += byteCount }
        return bytes.piece(at: readCount, count: byteCount)
    }

    /// The version and flags, which boxes of some kinds begin with.
    mutating func version(atMost highest: Int) throws(NoImage) -> Int {
        let version = try number(1)
        guard version <= highest else { throw NoImage() }
        _ = try number(3)
        return version
    }
}

extension FileBox {
    /// All boxes in a range.
    ///
    /// - Throws: `NoImage` also for more than ``Swift/Array/maxBoxCount``.
    static func all(in range: Range<Int>, of file: inout FileBytes) async throws -> [FileBox] {
        var boxes: [FileBox] = []
        try await forEach(in: range, of: &file) { box, _ in
            try boxes.add(box)
            return true
        }
        return boxes
    }
}

extension [FileBox] {
    /// The most boxes of one container.
    ///
    /// A photo of 48 megapixels in tiles has a few hundred. More would take memory for nothing.
    static var maxBoxCount: Int { 8_192 }

    /// - Throws: `NoImage` for one box too many.
    mutating func add(_ box: FileBox) throws(NoImage) {
        guard count < Self.maxBoxCount else { throw NoImage() }
        append(box)
    }

    /// The only box of a kind, or nil.
    ///
    /// - Throws: `NoImage` when there are several.
    func only(_ kind: String) throws(NoImage) -> FileBox? {
        let boxes = filter { $0.kind == kind }
        guard boxes.count <= 1 else { throw NoImage() }
        return boxes.first
    }

    /// The only box of a kind.
    ///
    /// - Throws: `NoImage` when there is none, or several.
    func required(_ kind: String) throws(NoImage) -> FileBox {
        guard let box = try only(kind) else { throw NoImage() }
        return box
    }
}
