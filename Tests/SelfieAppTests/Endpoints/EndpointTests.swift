import ConnectionTestSupport
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
        "GET /openapi.json public",
        "GET /docs public",
        "GET /favicon.ico public",
        "GET /robots.txt public",
        "GET /files/:name public",
        "GET /livez public",
        "GET /readyz public",
        "GET /photos/:random_id public",
        "POST /api/signup basic",
        "POST /api/signin basic",
        "GET /api/get_token basic",
        "POST /api/reset_password token",
        "GET /api/clear_token token",
        "POST /api/clear_token token",
        "DELETE /api/clear_token token",
        "POST /api/upload_photo token",
        "GET /api/get_photos token",
        "DELETE /api/delete_photo token",
        "GET /api/sessions token",
        "DELETE /api/sessions/:id token",
        "GET /api/me token",
        "PATCH /api/me token",
        "GET /api/members token",
        "GET /api/members/:member token",
        "GET /api/blocks token",
        "PUT /api/blocks/:member token",
        "DELETE /api/blocks/:member token",
        "GET /api/records/:collection token",
        "POST /api/records/:collection token",
        "PATCH /api/records/:collection token",
        "DELETE /api/records/:collection token",
        "GET /api/records/:collection/:id token",
        "PUT /api/records/:collection/:id token",
        "PATCH /api/records/:collection/:id token",
        "DELETE /api/records/:collection/:id token",
        "GET /api/members/:member/records/:collection token",
        "POST /api/members/:member/records/:collection token",
        "PATCH /api/members/:member/records/:collection token",
        "DELETE /api/members/:member/records/:collection token",
        "GET /api/members/:member/records/:collection/:id token",
        "PUT /api/members/:member/records/:collection/:id token",
        "PATCH /api/members/:member/records/:collection/:id token",
        "DELETE /api/members/:member/records/:collection/:id token",
        "GET /api/changes token",
        "GET /api/devices token",
        "PUT /api/devices/:device token",
        "DELETE /api/devices/:device token",
        "GET /api/subscriptions token",
        "GET /api/subscriptions/:subscription token",
        "PUT /api/subscriptions/:subscription token",
        "DELETE /api/subscriptions/:subscription token",
        "GET /api/roles/:role/members token",
        "GET /api/roles/:role/members/:member token",
        "PUT /api/roles/:role/members/:member token",
        "DELETE /api/roles/:role/members/:member token",
        "DELETE /api/account token",
        "GET /api/export token",
        "POST /rest/user/register public",
        "POST /rest/user/session public",
        "GET /rest/user/session dreamFactory",
        "DELETE /rest/user/session dreamFactory",
        "GET /rest/db/:table dreamFactory",
        "POST /rest/db/:table dreamFactory",
        "PUT /rest/db/:table dreamFactory",
        "PATCH /rest/db/:table dreamFactory",
        "DELETE /rest/db/:table dreamFactory",
        "GET /rest/db/:table/:id dreamFactory",
        "POST /rest/db/:table/:id dreamFactory",
        "PUT /rest/db/:table/:id dreamFactory",
        "PATCH /rest/db/:table/:id dreamFactory",
        "DELETE /rest/db/:table/:id dreamFactory",
        "POST /gallery/signup ownPage",
        "POST /gallery/signin ownPage",
        "POST /gallery/signout cookie",
        "GET /gallery/account cookie",
        "DELETE /gallery/account cookie",
        "POST /gallery/password cookie",
        "GET /gallery/changes cookie",
        "GET /gallery/photos cookie",
        "POST /gallery/photos cookie",
        "DELETE /gallery/photos cookie",
        "GET /gallery/sessions cookie",
        "DELETE /gallery/sessions/:id cookie",
        "GET /gallery/export cookie",
        "POST /api/request_code basic",
        "POST /api/recover_password basic",
        "POST /api/change_email token",
        "POST /api/confirm_email token",
        "POST /api/set_password token",
        "POST /gallery/code ownPage",
        "POST /gallery/recover ownPage",
        "POST /gallery/email cookie",
        "POST /gallery/email/confirm cookie",
        "POST /gallery/password/first cookie",
    ]

    @Test("They are these, and each says who may call")
    func list() {
        let lines = Routes.endpoints.map { "\($0.method.rawValue) \($0.path) \($0.authentication)" }
        #expect(Set(lines) == Self.table)
        #expect(lines.count == Self.table.count)
    }

    /// What each refusal is called for programs, with its status, written down once more: apps depend on these words.
    private static let codes: Set = [
        "400 since_invalid", "400 since_too_long", "400 collections_invalid", "400 wait_invalid",
        "410 changes_access", "410 changes_collections", "410 changes_database", "410 changes_forgotten",
        "400 listed_invalid", "404 role_not_found", "403 role_forbidden", "403 role_full",
        "404 collection_not_found", "404 record_not_found", "403 record_forbidden", "409 record_id_taken",
        "409 record_referred_to", "409 message_id_taken", "403 reader_full", "412 record_version_differs",
        "413 record_too_large", "400 record_id_invalid",
        "400 expires_at_invalid", "400 readers_not_allowed", "400 reader_unknown", "400 too_many_readers",
        "400 too_many_records", "403 record_quota_reached", "403 inbox_full", "400 index_missing",
        "400 include_invalid", "400 include_no_reference",
        "400 if_match_invalid", "400 record_invalid", "400 record_malformed", "400 where_invalid", "400 where_too_long",
        "400 ids_invalid",
        "400 include_too_long",
        "400 after_invalid", "400 all_invalid", "400 device_invalid", "400 device_too_long", "400 email_blank",
        "400 email_invalid", "400 field_unknown", "400 fields_has_null", "400 fields_invalid",
        "400 fields_number_out_of_range", "400 fields_too_deep", "400 fields_too_long", "400 first_name_blank",
        "400 first_name_invalid", "400 first_name_too_long", "400 json_not_an_object", "400 last_name_blank",
        "400 last_name_invalid", "400 last_name_too_long", "400 member_is_oneself", "400 picture_invalid",
        "400 query_invalid", "400 query_too_long", "400 shows_email_invalid", "400 size_invalid", "403 too_many_blocks",
        "404 member_not_found", "415 json_required", "400 email_taken", "400 email_too_long", "400 full_name_blank",
        "400 full_name_invalid",
        "400 full_name_too_long", "400 image_blank", "400 json_malformed", "400 limit_invalid",
        "400 multipart_malformed", "400 name_unfit", "400 photo_id_invalid", "400 name_invalid", "400 name_too_long",
        "400 order_invalid", "400 count_invalid",
        "400 parameters_malformed", "400 parameters_missing", "400 password_invalid",
        "400 password_too_long",
        "400 password_too_short", "400 remember_invalid", "400 request_incomplete", "400 request_malformed",
        "400 title_invalid",
        "400 title_too_long", "400 too_many_parameters", "401 api_credential_wrong", "401 email_or_password_wrong",
        "401 password_wrong", "401 photo_not_found", "401 token_expired", "401 token_invalid", "403 account_disabled",
        "403 cross_site_request", "403 photo_quota_reached", "403 photo_url_invalid", "404 endpoint_not_found",
        "404 file_not_found",
        "404 photo_not_found",
        "404 session_not_found",
        "408 request_timeout", "412 precondition_failed", "413 request_too_large", "415 photo_format_unknown",
        "416 range_not_satisfiable", "429 too_many_at_once", "429 too_many_requests", "431 header_too_large",
        "400 idempotency_key_invalid", "409 upload_under_way", "410 upload_deleted", "422 idempotency_key_reused",
        "400 purpose_invalid", "401 code_invalid", "403 email_unverified", "409 password_exists",
        "404 device_not_found", "403 too_many_devices", "404 subscription_not_found", "403 too_many_subscriptions",
        "400 subscription_id_invalid", "400 alert_blank", "400 alert_invalid", "400 alert_too_long",
        "400 badge_invalid",
        "400 channel_invalid", "400 collapse_invalid", "400 collection_blank", "400 collection_invalid",
        "400 device_token_invalid", "400 environment_invalid", "400 on_blank", "400 on_invalid", "400 once_invalid",
        "400 platform_blank",
        "400 platform_invalid", "400 silent_invalid", "400 sound_invalid", "400 topic_invalid",
        "500 internal_error", "503 service_unavailable",
    ]

    @Test("Refusals have these codes and statuses")
    func refusalCodes() {
        // DreamFactory's routes show no codes.
        let endpoints = Routes.endpoints.filter { $0.topic != .dreamFactory }
        let codes = endpoints.flatMap(\.allRefusals).map { "\($0.status.code) \($0.code)" }
        #expect(Set(codes) == Self.codes)
    }

    @Test("Each but the public ones refuses a request without a credential, and with one of the other kind")
    func refused() async throws {
        try await TestService.run { service in
            let plain = try await service.makeToken()
            let token = tokenHeader(plain)
            let own = ("Sec-Fetch-Site", "same-origin")
            for endpoint in Routes.endpoints where endpoint.authentication == .cookie {
                let strangers = [
                    [own], [own, ("Authorization", token)], [own, ("Authorization", TestService.basic)],
                    [own, ("Cookie", "selfie=\(plain)x")], [own, ("Cookie", "selfie=\(plain.dropLast())")],
                    [own, ("Cookie", "selfie=")], [own, ("Cookie", "token=\(plain)")],
                ]
                for headers in strangers {
                    try await service.check(
                        Scenario(
                            endpoint.call,
                            endpoint.call,
                            headers: headers,
                            status: 401,
                            message: Refusal.token
                        )
                    )
                }
            }
            for endpoint in Routes.endpoints
            where [.basic, .token, .dreamFactory].contains(endpoint.authentication) {
                let isBasic = endpoint.authentication == .basic
                let isOwn = endpoint.authentication == .dreamFactory
                for authorization in [nil, isBasic || isOwn ? token : TestService.basic] {
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
            let token = try await service.makeToken()
            for endpoint in Routes.endpoints {
                for parameter in endpoint.bodyParameters where parameter.isRequired {
                    for payload in [.none, try endpoint.payload(without: parameter.name)] {
                        try await service.check(
                            Scenario(
                                "\(endpoint.call) without \(parameter.name)",
                                endpoint.call,
                                headers: endpoint.credentials(token: token),
                                payload,
                                status: 400,
                                message: Refusal.missing
                            )
                        )
                    }
                }
            }
        }
    }

    @Test("Each accepts parameters just within their limits, and refuses those just beyond")
    func limits() async throws {
        try await TestService.run(settings: ["RATE_LIMIT_CODES_PER_ACCOUNT": "100/1h"]) { service in
            _ = try await service.signUp(email: "ada@example.com")
            var count = 0
            for endpoint in Routes.endpoints {
                for parameter in endpoint.bodyParameters {
                    for bound in try parameter.bounds {
                        count += 1
                        for (value, isAllowed) in [(bound.refused, false), (bound.allowed, true)] {
                            let email = "\(count)-\(isAllowed)@example.com"
                            let token = try await service.makeToken(email: email)
                            let scenario = Scenario(
                                "\(endpoint.call) with \(parameter.name)",
                                endpoint.call,
                                headers: endpoint.credentials(token: token),
                                try endpoint.payload([parameter.name: value], without: parameter.rival)
                            )
                            let answer = try await service.send(
                                scenario.method,
                                scenario.target,
                                headers: scenario.headers + [("Content-Type", TestMultipart.contentType)],
                                body: scenario.payload.encoded?.body
                            )
                            // A code comes from a mail. No mail goes to an address with so long a name.
                            let codes = ["code_invalid", "password_exists"]
                            let isAccepted =
                                answer.status == 200 || codes.contains(answer.json["code"] as? String ?? "")
                                || endpoint.path.hasSuffix("email") && answer.message?.contains("too long") == false
                            let isAsSaid = isAllowed ? isAccepted : answer.status == 400
                            #expect(isAsSaid, "\(scenario.name): \(answer.text)")
                            #expect(isAllowed || answer.message?.contains(bound.problem) == true)
                        }
                    }
                }
            }
            #expect(count >= 10)
        }
    }

    @Test("Each that needs a token refuses an expired one")
    func expired() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            service.clock.advance(by: 24 * 3600)
            for endpoint in Routes.endpoints
            where ![.public, .basic, .ownPage].contains(endpoint.authentication) {
                try await service.check(
                    Scenario(
                        "\(endpoint.call), expired",
                        endpoint.call,
                        headers: endpoint.credentials(token: token),
                        endpoint.takesBody ? try endpoint.payload() : .none,
                        status: 401
                    )
                )
            }
        }
    }

    @Test("HEAD is answered where GET is, and changes nothing")
    func head() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for endpoint in Routes.endpoints where endpoint.method == .get {
                for headers in [[], endpoint.credentials(token: token)] {
                    let target = endpoint.examplePath
                    let before = try await service.state()
                    let head = try await service.send("HEAD", target, headers: headers)
                    #expect(head.body.isEmpty)
                    #expect(try await service.state() == before, "\(target)")
                    let get = try await service.send("GET", target, headers: headers)
                    #expect(head.status == get.status, "\(target)")
                    #expect(head.headers["content-length"] == get.headers["content-length"], "\(target)")
                }
            }
        }
    }

    @Test("No two mean the same, and no refusal is named twice")
    func distinct() {
        let calls = Routes.endpoints.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(calls).count == calls.count)
        for endpoint in Routes.endpoints {
            let refusals = endpoint.allRefusals.map(\.code)
            #expect(Set(refusals).count == refusals.count, "\(endpoint.call)")
            let names = endpoint.parameters.map(\.name)
            #expect(Set(names).count == names.count, "\(endpoint.call)")
        }
    }
}
