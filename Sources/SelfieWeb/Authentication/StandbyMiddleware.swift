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

/// Notes, before the client has the answer, that a session may have changed something.
struct StandbyWriteMiddleware: ServiceMiddleware {
    let sessions: SessionStore

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        if response.status.kind == .successful, let session = context.session?.ifAlive {
            // In a task of its own: the change is made, whether or not the client is still there.
            try await Task { try await sessions.noteWrite(of: session.id) }.value
        }
        return response
    }
}
