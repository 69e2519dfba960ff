import Budgets
import Concurrency
import HTTPTypes
import Hummingbird
import Postgres
import SelfieAccounts

/// Lets a call read from a standby that has all that its session has written.
struct StandbyReadMiddleware: ServiceMiddleware {
    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        try await ReadPosition.$current.withValue(context.session?.ifAlive?.readPosition) {
            try await next(request, context)
        }
    }
}

/// Notes, before the client has the answer, that a session may have changed something, or was told of what others have changed.
struct StandbyWriteMiddleware: ServiceMiddleware {
    let sessions: SessionStore
    /// The notes of calls that failed and may have written; the holders are sessions.
    let notesAfterFailure: Permits<Int>
    /// How long such a call waits for its note.
    let maxNoteTime: Duration

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        // Whatever its end was at the look-up: a remembered session may be extended during the call.
        guard let sessionID = context.session?.id else { return try await next(request, context) }
        let response: Response
        do {
            response = try await next(request, context)
        } catch {
            switch WriteNote(after: error) {
            case .unneeded: break
            case .required: try await note(sessionID)
            case .attempted: await tryToNote(sessionID)
            }
            throw error
        }
        if response.status.kind == .successful { try await note(sessionID) }
        return response
    }

    /// - Throws: `PostgresError`.
    private func note(_ sessionID: Int) async throws {
        // In a task of its own: the change is made, whether or not the client is still there.
        try await Task { try await sessions.noteWrite(of: sessionID) }.value
    }

    /// Makes a note, but does not hold up the refusal for long.
    ///
    /// The database may be overloaded. So few such notes are under way at once, and others are left out.
    private func tryToNote(_ sessionID: Int) async {
        guard let permit = try? notesAfterFailure.acquire(for: sessionID) else { return }
        defer { withExtendedLifetime(permit) {} }
        await Task {
            _ = try? await race({ try await sessions.noteWrite(of: sessionID) }) {
                try await Task.sleep(for: maxNoteTime)
                return NotInTime()
            }
        }.value
    }

    private struct NotInTime: Error {}
}
