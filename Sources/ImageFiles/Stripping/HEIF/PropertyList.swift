/// The properties of items.
///
/// Source: ISO/IEC 14496-12, section 8.11.14 (`iprp`, `ipco`, `ipma`).
struct PropertyList {
    /// The properties, whose numbers count from 1.
    private let boxes: [FileBox]
    /// Which ones each item has.
    let uses: PropertyUses
    /// The numbers of those that name alpha.
    let alpha: Set<Int>

    init(_ container: FileBox, _ file: inout FileBytes, _ edits: inout FileEdits) async throws {
        let lists = try await FileBox.all(in: container.contents, of: &file)
        boxes = try await FileBox.all(in: lists.required("ipco").contents, of: &file)
        var uses = PropertyUses()
        for list in lists where list.kind != "ipco" {
            guard list.kind == "ipma" else {
                try edits.free(list)
                continue
            }
            let end = try await uses.read(list, of: &file)
            try edits.zero(end..<list.contents.upperBound)
        }
        self.uses = uses
        var alpha: Set<Int> = []
        for (index, box) in boxes.enumerated() where try await PictureProperty.isAlpha(box, &file) {
            alpha.insert(index + 1)
        }
        self.alpha = alpha
    }

    /// How an item is coded, if a property says so.
    func configuration(of item: Int) -> FileBox? {
        uses.byItem[item, default: []].lazy.map(\.number).filter { boxes.indices.contains($0 - 1) }
            .map { boxes[$0 - 1] }.first { CodingConfiguration.kinds.contains($0.kind) }
    }

    /// Overwrites the properties that no kept item has, or that say nothing of a picture.
    ///
    /// Each keeps its place, since items refer to properties by number.
    ///
    /// - Throws: `NoImage` when a kept item has one that a reader must know, and that is not known here.
    func strip(keeping kept: Set<Int>, _ file: inout FileBytes, _ edits: inout FileEdits) async throws {
        // A use without a property has the number 0.
        let keptUses = kept.flatMap { uses.byItem[$0] ?? [] }.filter { $0.number > 0 }
        guard keptUses.allSatisfy({ $0.number <= boxes.count }) else { throw NoImage() }
        let used = Set(keptUses.map(\.number))
        let essential = Set(keptUses.filter(\.isEssential).map(\.number))
        for (index, box) in boxes.enumerated() {
            let number = index + 1
            if used.contains(number), let count = try await PictureProperty.usedCount(of: box, &file) {
                try edits.zero((box.contents.lowerBound + count)..<box.contents.upperBound)
            } else {
                guard !essential.contains(number) else { throw NoImage() }
                try edits.free(box)
            }
        }
    }
}
