extension String {
    /// Whether it has more than 30 combining marks in a row.
    ///
    /// Swift compares and hashes texts by their normal form, and sorts each row of marks: n of them cost up to n². Scripts
    /// need a few. Source of the number: UAX #15, section 13 "Stream-Safe Text Format".
    package var hasLongMarkRun: Bool {
        // Nearly all texts are ASCII.
        if utf8.allSatisfy({ $0 < 0x80 }) { return false }
        var run = MarkRun()
        for scalar in unicodeScalars where run.isTooLong(with: scalar) { return true }
        return false
    }

    /// Whether it may be the name of a member or a parameter: 255 bytes at most, and 30 combining marks in a row.
    package var isFitName: Bool { utf8.count <= 255 && !hasLongMarkRun }

    /// The text with U+034F, which is invisible, after every 30 marks in a row.
    ///
    /// It is for what was stored before such texts were refused. Source: UAX #15, section 13.1 "Stream-Safe Text Process".
    package var streamSafe: String {
        guard hasLongMarkRun else { return self }
        var (run, safe) = (MarkRun(), String.UnicodeScalarView())
        for scalar in unicodeScalars {
            if run.isTooLong(with: scalar) {
                safe.append("\u{034F}")
                run = MarkRun()
                _ = run.isTooLong(with: scalar)
            }
            safe.append(scalar)
        }
        return String(safe)
    }
}

/// A row of combining marks that is being read.
private struct MarkRun {
    private static let maxCount = 30

    private var count = 0

    mutating func isTooLong(with scalar: Unicode.Scalar) -> Bool {
        count = Self.isMark(scalar) ? count + 1 : 0
        return count > Self.maxCount
    }

    /// Whether a scalar, or a part of it, may be sorted with its neighbours.
    ///
    /// U+034F has this category, but ends a row: its class is 0. U+0F73, U+0F75 and U+0F81 also have class 0, but
    /// consist of two marks of other classes, so they count.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        // The first mark is U+0300.
        guard scalar.value >= 0x300, scalar != "\u{034F}" else { return false }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return false
        }
    }
}
