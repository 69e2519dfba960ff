package import Curl
import Deliveries
import FoundationEssentials
import JSON
import OrderedCollections
import Postgres
import Push

extension Pushes {
    /// What a provider says to the service's credentials.
    package enum Finding: Sendable {
        /// It knows them, and refused a device that does not exist.
        case accepted
        /// It answered with this word or status instead.
        case refused(String)
        /// It did not answer.
        case unreachable(CurlError)
        /// Its token could not be made or kept.
        case noToken
    }

    /// Asks each provider that is set up, without reaching a device.
    ///
    /// - Returns: What they say, by platform.
    package func check() async -> [(platform: Device.Platform, finding: Finding)] {
        var findings: [(Device.Platform, Finding)] = []
        if let apns { findings.append((.apns, await Self.finding { try await apns.check() })) }
        if let fcm { findings.append((.fcm, await Self.finding { try await fcm.check() })) }
        return findings
    }

    private static func finding(_ check: () async throws -> Finding) async -> Finding {
        do {
            return try await check()
        } catch let failure as PushServer.Unavailable {
            return failure.error.map { .unreachable($0) } ?? .noToken
        } catch let failure as CurlFailure {
            return .unreachable(failure.reason)
        } catch let refusal as FCMClient.TokenRefused {
            return .refused(refusal.code ?? "\(refusal.status)")
        } catch {
            return .noToken
        }
    }
}

extension APNsChannel {
    /// Sends a push to a device token of zeros, which Apple must refuse.
    fileprivate func check() async throws -> Pushes.Finding {
        let request = APNsRequest(
            id: UUID(),
            deviceToken: String(repeating: "0", count: 64),
            topic: topic,
            kind: .background,
            collapseID: nil,
            payload: #"{"aps":{"content-available":1}}"#,
            expiresAt: Date()
        )
        let answer = try await answer(to: request, .production)
        return answer.verdict == .otherEnvironment ? .accepted : .refused(answer.reason ?? "\(answer.status)")
    }
}

extension FCMChannel {
    /// Has Google check a message to a device that does not exist.
    fileprivate func check() async throws -> Pushes.Finding {
        let answer = try await answer(to: ["token": "0"], isOnlyChecked: true)
        switch answer.verdict {
        case .accepted, .gone: return .accepted
        // The token is the one thing that is wrong.
        case .refused where answer.status == 400: return .accepted
        case .refused, .expiredToken, .notNow: return .refused(answer.code ?? "\(answer.status)")
        }
    }
}
