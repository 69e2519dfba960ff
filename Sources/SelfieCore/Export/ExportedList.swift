import JSON
import NIOCore
import ObjectStore

/// A JSON array that is written element by element, each on a line of its own.
struct ExportedList: ~Copyable {
    private var spool: MeasuredSpool
    private var isEmpty = true

    init(_ spools: SpoolBudget, userID: Int) {
        spool = MeasuredSpool(spools, userID: userID)
    }

    /// Adds an object.
    ///
    /// - Parameter members: Adds its members.
    /// - Throws: What writing a file throws, or `TooBusy`.
    mutating func append(_ members: (inout JSONWriter) -> Void) async throws {
        var json = JSONWriter()
        json.object(members)
        try await spool.append(isEmpty ? "[\n" : ",\n")
        try await spool.append(json.buffer)
        isEmpty = false
    }

    consuming func finish() async throws -> MeasuredFile {
        try await spool.append(isEmpty ? "[]\n" : "\n]\n")
        return try await spool.finish()
    }
}
