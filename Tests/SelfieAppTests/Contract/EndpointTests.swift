import Foundation
import HTTPTypes
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieWeb

@Suite("All endpoints")
struct EndpointTests {
    /// Who may call what, written down once more, so that nothing is open by accident.
    private static let table: Set = [
        "GET / public",
        "GET /photos/:random_id public",
        "POST /api/signup basic",
        "POST /api/signin basic",
        "GET /api/get_token basic",
        "POST /api/reset_password token",
        "GET /api/clear_token token",
        "POST /api/clear_token token",
        "DELETE /api/clear_token token",
        "POST /api/upload_photo token",
        "GET /api/get_photos checksItsOwnToken",
        "DELETE /api/delete_photo token",
        "GET /api/sessions token",
        "DELETE /api/sessions/:id token",
        "DELETE /api/account token",
    ]

    @Test("They are these, and each says who may call")
    func list() {
        let lines = Routes.endpoints.map { "\($0.method.rawValue) \($0.path) \($0.authentication)" }
        #expect(Set(lines) == Self.table)
        #expect(lines.count == Self.table.count)
    }

    @Test("Each but the public ones refuses a request without a credential, and with one of the other kind")
    func refused() async throws {
        try await TestService.run { service in
            let token = tokenHeader(try await service.makeToken())
            for endpoint in Routes.endpoints where endpoint.authentication != .public {
                let isBasic = endpoint.authentication == .basic
                for authorization in [nil, isBasic ? token : TestService.basic] {
                    try await service.check(
                        Scenario(
                            endpoint.call,
                            endpoint.call,
                            authorization: authorization,
                            status: 401,
                            message: isBasic ? Refusal.basic : Refusal.token
                        )
                    )
                }
            }
        }
    }

    @Test("Each refuses a request that lacks a parameter which it needs")
    func missingParameters() async throws {
        try await TestService.run { service in
            let token = tokenHeader(try await service.makeToken())
            for endpoint in Routes.endpoints where endpoint.needsParameters {
                let authorization = endpoint.authentication == .basic ? TestService.basic : token
                try await service.check(
                    Scenario(
                        endpoint.call,
                        endpoint.call,
                        authorization: authorization,
                        status: 400,
                        message: Refusal.missing
                    )
                )
            }
        }
    }

    @Test("No two mean the same, and no refusal is named twice")
    func distinct() {
        let calls = Routes.endpoints.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(calls).count == calls.count)
        for endpoint in Routes.endpoints {
            let refusals = endpoint.allRefusals.map { "\($0.status.code) \($0.message)" }
            #expect(Set(refusals).count == refusals.count, "\(endpoint.call)")
            let names = endpoint.parameters.map(\.name)
            #expect(Set(names).count == names.count, "\(endpoint.call)")
        }
    }
}
