import HTTPTypes
import Hummingbird
import SelfieAccounts
package import SelfieConfiguration
import SelfieCore

/// All endpoints of the API; read this first.
package enum Routes {
    /// The groups of endpoints.
    ///
    /// A call outside of these does not exist.
    private static let groups: [any EndpointGroup.Type] = [
        AccountEndpoints.self, CodeEndpoints.self, PhotoEndpoints.self, PhotoFileEndpoints.self, SessionEndpoints.self,
        MemberEndpoints.self, DirectoryEndpoints.self, LookupEndpoints.self, BlockEndpoints.self,
        RecordEndpoints.self, ChangeEndpoints.self, RoleEndpoints.self, ExportEndpoints.self,
        DeviceEndpoints.self, SubscriptionEndpoints.self, DreamFactoryEndpoints.self,
        GalleryEndpoints.self, GalleryCodeEndpoints.self,
        WelcomeEndpoints.self, HealthEndpoints.self, DocumentEndpoints.self, PageEndpoints.self,
    ]

    /// The descriptions of all endpoints.
    package static let endpoints: [Endpoint] = groups.flatMap { $0.descriptions }

    /// The descriptions of the endpoints that the settings open.
    package static func endpoints(openedBy settings: ServiceConfiguration) -> [Endpoint] {
        groups.filter { $0.isOpen(settings) }.flatMap { $0.descriptions }
    }

    /// Makes the responder: all endpoints, each behind its authentication, and what they share.
    ///
    /// HEAD answers wherever GET does.
    ///
    /// - Parameter parts: What the endpoints share.
    /// - Returns: The responder.
    package static func responder(_ parts: WebParts) -> ServiceResponder {
        let router = Router(context: ServiceRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(
            middleware: RequestLogMiddleware(
                addresses: parts.sources.addresses,
                metrics: parts.metrics,
                tracer: parts.tracer,
                quietEndpoints: HealthEndpoints.paths
            )
        )
        let merge = parts.settings.servesDreamFactory ? HTTPRequest.Method("MERGE") : nil
        let known = Set(endpoints.map(\.method) + [merge].compactMap(\.self)).sorted { $0.rawValue < $1.rawValue }
        router.add(middleware: CORSMiddleware(origins: parts.settings.corsOrigins, methods: known))
        let methods = AllowedMethods(parts.endpoints.map { ($0.pathWithoutFormat, $0.method) })
        router.add(
            middleware: ErrorMiddleware(
                metrics: parts.metrics,
                methods: methods,
                servesDreamFactory: parts.settings.servesDreamFactory
            )
        )
        router.add(middleware: GzipMiddleware())
        let guards = EndpointGuards(
            basic: BasicMiddleware(credential: parts.settings.apiCredential),
            token: TokenMiddleware(
                findSession: parts.useCases.accounts.findSession,
                sources: parts.sources,
                now: parts.now,
                sessionRequests: parts.permits.sessionRequests
            ),
            ownPage: GalleryMiddleware(origin: parts.origin),
            standbyWrites: parts.settings.readsStandby
                ? StandbyWriteMiddleware(
                    sessions: parts.useCases.accounts.sessions,
                    notesAfterFailure: parts.permits.notesAfterFailure,
                    maxNoteTime: parts.permits.maxNoteTime
                ) : nil
        )
        for group in groups where group.isOpen(parts.settings) { group.init(parts).add(to: router, guards: guards) }
        return ServiceResponder(router: router, servesDreamFactory: parts.settings.servesDreamFactory)
    }
}

extension EndpointGroup {
    fileprivate static var descriptions: [Endpoint] { endpoints.map(\.description) }
}
