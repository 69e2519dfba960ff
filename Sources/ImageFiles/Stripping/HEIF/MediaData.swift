/// Which bytes of the boxes with data (`mdat`, `idat`) stay.
///
/// Source: ISO/IEC 14496-12, sections 8.1.1 (`mdat`) and 8.11.11 (`idat`).
struct MediaData {
    /// The contents of the boxes.
    private var contents: [Range<Int>]
    private var kept: [Range<Int>] = []
    private var dropped: [Range<Int>] = []
    private var headers: [Range<Int>] = []

    init(_ contents: [Range<Int>]) { self.contents = contents }

    /// Adds the box with data that lies in a `meta`.
    mutating func add(_ box: FileBox) { contents.append(box.contents) }

    /// Keeps a range, which must lie in a box with data.
    mutating func keep(_ range: Range<Int>) throws(NoImage) {
        try check(range)
        if let last = kept.last, last.upperBound == range.lowerBound {
            kept[kept.count - 1] = last.lowerBound..<range.upperBound
        } else {
            kept.append(range)
        }
    }

    /// Overwrites a range with zeros, which no kept range may overlap.
    mutating func drop(_ range: Range<Int>) throws(NoImage) {
        try check(range)
        dropped.append(range)
    }

    /// Overwrites the start of a range with other bytes, and the rest with zeros; no kept range may overlap it.
    mutating func drop(
        _ range: Range<Int>,
        writing header: ArraySlice<UInt8>,
        _ edits: inout FileEdits
    ) throws(NoImage) {
        try drop(range)
        headers.append(range.lowerBound..<(range.lowerBound + header.count))
        try edits.overwrite(at: range.lowerBound, with: Array(header))
    }

    /// Overwrites all that is not kept with zeros.
    ///
    /// - Throws: `NoImage` when a dropped range overlaps a kept one.
    func strip(_ edits: inout FileEdits) throws(NoImage) {
        let kept = Self.merged(kept)
        guard !Self.merged(dropped).overlaps(kept) else { throw NoImage() }
        let written = Self.merged(kept + headers)
        var index = 0
        for contents in contents.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            var offset = contents.lowerBound
            while index < written.count, written[index].lowerBound < contents.upperBound {
                try edits.zero(offset..<written[index].lowerBound)
                offset = written[index].upperBound
                index += 1
            }
            try edits.zero(offset..<contents.upperBound)
        }
    }

    private func check(_ range: Range<Int>) throws(NoImage) {
        let isInside = contents.contains { box in
            box.lowerBound <= range.lowerBound && range.upperBound <= box.upperBound
        }
        guard isInside, !range.isEmpty else { throw NoImage() }
    }

    /// The same ranges in order, without overlaps.
    private static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var merged: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound < last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}

extension [Range<Int>] {
    /// Whether a range overlaps one of others; both are in order.
    fileprivate func overlaps(_ others: [Range<Int>]) -> Bool {
        var index = 0
        for range in self {
            while index < others.count, others[index].upperBound <= range.lowerBound { index += 1 }
            if index < others.count, others[index].overlaps(range) { return true }
        }
        return false
    }
}
