/// Finds the items that are shown: the primary one, what it is made of, and the alpha of both.
///
/// Sources: ISO/IEC 23008-12, sections 6.4 (references `dimg`, `auxl`) and 6.6 (`grid`, `iovl`, `iden`).
struct ShownItems {
    /// The kinds that are pictures.
    ///
    /// A JPEG inside of a HEIF has metadata of its own, so it is refused.
    private static let codedKinds: Set<String> = ["hvc1", "av01"]
    private static let derivedKinds: Set<String> = ["grid", "iovl", "iden"]
    /// References of a picture that can't be decoded alone.
    private static let refusedReferences: Set<String> = ["pred", "base", "exbl", "tbas"]

    let kinds: [Int: String]
    let references: ItemReferences
    let uses: PropertyUses
    /// The numbers of the properties that name alpha.
    let alphaProperties: Set<Int>

    /// The numbers of the items that stay.
    ///
    /// - Throws: `NoImage` when one is missing, or is none of the known pictures.
    func find(from primary: Int) throws(NoImage) -> Set<Int> {
        var (sources, auxiliaries) = ([Int: [Int]](), [Int: [Int]]())
        var dependent: Set<Int> = []
        for entry in references.entries {
            switch entry.box.kind {
            case "dimg": sources[entry.from, default: []] += entry.to
            case "auxl" where isAlpha(entry.from):
                for item in entry.to { auxiliaries[item, default: []].append(entry.from) }
            case let kind where Self.refusedReferences.contains(kind): dependent.insert(entry.from)
            default: break
            }
        }
        var kept: Set<Int> = []
        var waiting = [primary]
        while let item = waiting.popLast() {
            guard kept.insert(item).inserted else { continue }
            guard let kind = kinds[item], !dependent.contains(item) else { throw NoImage() }
            if Self.derivedKinds.contains(kind) {
                waiting += sources[item] ?? []
            } else {
                guard Self.codedKinds.contains(kind) else { throw NoImage() }
            }
            waiting += auxiliaries[item] ?? []
        }
        return kept
    }

    private func isAlpha(_ item: Int) -> Bool {
        uses.byItem[item, default: []].contains { alphaProperties.contains($0.number) }
    }
}
