/// A Swift type that a column can be read into.
package protocol PostgresDecodable {
    /// Whether a column of this type can be read into this one.
    static func canDecode(_ type: PostgresType) -> Bool

    /// Reads a cell in its type's binary format.
    ///
    /// - Parameters:
    ///   - postgresBytes: The cell.
    ///   - type: The column's type, one of those that `canDecode` allows.
    /// - Throws: `UnreadableCell` when the bytes cannot be read.
    init(postgresBytes: ArraySlice<UInt8>, type: PostgresType) throws(UnreadableCell)
}

/// Why a cell of a readable type cannot be read.
package enum UnreadableCell: Error, Equatable {
    /// The bytes are not what the type's binary format says.
    case malformed
    /// An array holds a NULL, and the elements asked for are not optional.
    case nullElement
    /// An array has this many dimensions, more than the one that can be read.
    case dimensions(Int)

    /// What was found, for an error's text.
    func description(of type: PostgresType) -> String {
        switch self {
        case .malformed: "malformed \(type.sqlName)"
        case .nullElement: "\(type.sqlName) with a NULL element"
        case .dimensions(let count): "\(type.sqlName) of \(count) dimensions"
        }
    }
}
