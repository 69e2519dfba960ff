import RecordSchema

/// What a stream may do with a record, as the database has it.
struct RecordGrant: Sendable, Equatable {
    var rights: Rights
    /// The number of the last change that the stream showed; nil if it never showed the record.
    var number: Int?
    /// The number of the change since which the stream shows the record.
    var shownNumber: Int?
}

/// The change of a stream's grant when a record is written.
enum GrantChange: Equatable {
    /// The stream shows the change, with its next number.
    case shown(RecordGrant)
    /// The stream shows that the record is gone, with its next number.
    case ended(RecordGrant)
    /// The stream shows nothing.
    case silent(RecordGrant)
    /// The stream had it, and never showed it.
    case dropped

    /// Whether the change takes a number of the stream.
    ///
    /// - Parameters:
    ///   - old: The stream's rights until now.
    ///   - new: Its rights from now on.
    ///   - isChanged: Whether the record changes for those who read it before, too.
    /// - Returns: Whether it does.
    static func takesNumber(from old: Rights?, to new: Rights?, isChanged: Bool) -> Bool {
        let (reads, read) = ((new ?? []).contains(.read), (old ?? []).contains(.read))
        return isChanged ? reads || read : reads != read
    }

    /// - Parameters:
    ///   - old: The grant until now; nil for none.
    ///   - new: The rights from now on; nil for none.
    ///   - isChanged: Whether the record changes for those who read it before, too.
    ///   - number: Takes the stream's next number.
    /// - Returns: The change; nil when nothing changes.
    static func change(
        from old: RecordGrant?,
        to new: Rights?,
        isChanged: Bool,
        number: () -> Int
    ) -> GrantChange? {
        let rights = new ?? []
        let wasShown = old?.rights.contains(.read) ?? false
        if !isChanged, let old, wasShown, rights.contains(.read) {
            if rights == old.rights { return nil }
            return .silent(RecordGrant(rights: rights, number: old.number, shownNumber: old.shownNumber))
        }
        if rights.contains(.read) {
            let next = number()
            return .shown(
                RecordGrant(rights: rights, number: next, shownNumber: wasShown ? old?.shownNumber : next)
            )
        }
        if wasShown { return .ended(RecordGrant(rights: rights, number: number(), shownNumber: nil)) }
        if old?.rights ?? [] == rights { return nil }
        if rights.isEmpty, old?.number == nil { return .dropped }
        return .silent(RecordGrant(rights: rights, number: old?.number, shownNumber: nil))
    }
}
