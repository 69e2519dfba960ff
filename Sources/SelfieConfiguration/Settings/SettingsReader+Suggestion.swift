extension SettingsReader {
    /// The setting that a misspelled name may mean.
    ///
    /// - Parameter name: The name of an environment variable.
    /// - Returns: The setting's key; nil when the name is a setting's own, or similar to none.
    package static func suggestion(for name: String) -> String? {
        guard !keys.contains(name) else { return nil }
        let plain = plain(name)
        // Short names, such as PATH and PORT, are all alike.
        guard plain.count >= minLength else { return nil }
        let isLong = plain.count >= minLongLength
        let candidates = keys.compactMap { key -> (distance: Int, key: String)? in
            let known = Self.plain(key)
            let distance = editDistance(plain, known)
            let isSimilar = distance <= (isLong ? maxDistance : 1) || isLong && known.starts(with: plain)
            return isSimilar ? (distance, key) : nil
        }
        return candidates.min { $0 < $1 }?.key
    }

    private static let minLength = 6
    /// A name of at least this many letters may differ by ``maxDistance``, a shorter one by one.
    private static let minLongLength = 8
    private static let maxDistance = 2

    private static func plain(_ name: String) -> [UInt8] {
        name.uppercased().utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
    }

    /// How many letters must be changed, added or left out (Levenshtein).
    private static func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var row = Array(0...b.count)
        for (i, letter) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in b.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[b.count]
    }
}
