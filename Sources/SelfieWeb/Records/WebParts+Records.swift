import Hummingbird
import SelfieAccounts
import SelfieCore
import SelfieRecords

extension WebParts {
    /// Runs the operations of a call: all of them, or none.
    ///
    /// - Parameters:
    ///   - operations: What to do.
    ///   - location: Where the records are.
    ///   - request: The request.
    ///   - context: Its context.
    ///   - areMany: Whether the client named them by their positions in a list.
    /// - Returns: The records, without those that were deleted.
    /// - Throws: `ServiceError`, or what the use case throws.
    func writeRecords(
        _ operations: [RecordOperation],
        in location: RecordLocation,
        _ request: Request,
        _ context: SessionRequestContext,
        areMany: Bool
    ) async throws -> [StoredRecord] {
        do {
            return try await useCases.records.writeRecords(
                operations,
                in: location,
                by: context.session,
                from: sources.source(of: request, context: context)
            )
        } catch let refusal as RecordRefusal {
            // A position is of use in an array only.
            throw ServiceError(areMany ? refusal : refusal.withoutPosition)
        }
    }
}
