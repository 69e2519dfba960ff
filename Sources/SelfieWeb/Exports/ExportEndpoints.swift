import Budgets
import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import SelfieAccounts
import SelfieCore

/// All that a user has, as a ZIP archive.
struct ExportEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints = [export]

    static let export = HandledEndpoint<Self>(
        "export",
        .accounts,
        .get,
        "/api/export",
        .token(handleExport),
        "Export all data",
        details: """
            A ZIP archive of all original photos, and of profile, sessions, records and history as JSON. It is made while it is \
            sent, so its length is not known. An archive that broke off can't be opened. It breaks off when the session ends.
            """,
        limitedBy: [.exportsPerUser],
        answers: [.ok("The archive.", .file([contentType]), headers: [.fileName])]
    )

    private static let contentType = "application/zip"

    init(_ parts: WebParts) { self.parts = parts }

    @Sendable
    func handleExport(request: Request, context: SessionRequestContext) async throws -> Response {
        let date = parts.now()
        let headers: HTTPFields = [
            .contentType: Self.contentType,
            .contentDisposition: "attachment; filename=\"selfie-export-\(date.contractText.prefix(10)).zip\"",
            .cacheControl: "no-store",
        ]
        if request.method == .head { return Response(status: .ok, headers: headers, body: ResponseBody { _ in }) }
        let session = context.session
        // The permit comes first: of parallel requests, only the one that gets it counts.
        let permit = try parts.permits.exports.acquire(for: session.userID)
        let counted = try await parts.useCases.accounts.admitExport(
            userID: session.userID,
            from: parts.sources.source(of: request, context: context)
        )
        let sending = SentExport(parts: parts, session: session, start: date, counted: counted, permit: permit)
        context.notes.noteStreaming()
        return Response(status: .ok, headers: headers, body: sending.body(logger: context.logger))
    }
}
