import HTTPTypes
import Hummingbird
import Logging
import Multipart
import NIOHTTP1
import Postgres

/// Turns whatever a handler throws into the contract's JSON; the only place that knows the status of an error.
struct ErrorMiddleware: RouterMiddleware {
    typealias Context = ServiceRequestContext

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let refusal = ServiceError(error)
            if refusal.status.kind == .serverError {
                context.logger.error("request failed", metadata: ["error": "\(String(describing: error))"])
            }
            return refusal.response()
        }
    }
}

extension ServiceError {
    /// Maps an error of any layer; what is not known is an internal error, and tells the client nothing.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as ServiceError: error
            case let error as RateLimitExceeded: error.serviceError
            case let error as AccountComplaints: ServiceError(status: .badRequest, message: error.message)
            case let error as PostgresError where error.isUnavailable: .unavailable
            case let error as PostgresTransactionError where error.postgresError.isUnavailable: .unavailable
            case PostgresError.cancelled, is CancellationError: .clientGone
            case ObjectStoreError.unavailable(is CancellationError): .clientGone
            case is ObjectStoreError: .unavailable
            case is PasswordHasherError: .unavailable
            case let error as MultipartError: ServiceError(error)
            case let error as HTTPError where error.status == .notFound: .wrongURL
            case is SlowRequestError: .bodyTooSlow
            case HTTPParserError.invalidEOFState: .bodyIncomplete
            case is HTTPParserError: .malformedRequest
            default: .internalError
            }
    }

    private init(_ error: MultipartError) {
        self =
            switch error {
            case .fieldTooLarge, .fileTooLarge, .headerTooLarge, .preambleTooLarge: .bodyTooLarge
            case .tooManyParts: .tooManyParameters
            case .unexpectedEnd: .bodyIncomplete
            default: .malformedMultipart
            }
    }
}
