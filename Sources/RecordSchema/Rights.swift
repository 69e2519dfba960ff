/// What a grant allows with a record.
package struct Rights: OptionSet, Sendable, Hashable {
    /// The bits, as the database has them.
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package static let read = Rights(rawValue: 1)
    package static let write = Rights(rawValue: 2)
    package static let delete = Rights(rawValue: 4)
    /// To set readers and writers.
    package static let share = Rights(rawValue: 8)
}
