import ClientTestSupport
import Foundation
import SelfieClient
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The Swift client's pushes")
struct PushTests {
    @Test("A push becomes the record that it is about", .timeLimit(.minutes(1)))
    func pushes() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let bob = try await service.addMember("bob", role: "team")
            try await TemporaryFolder.with { folder in
                let hers = try TestClient(service, folder: folder.appending(path: "ada"), as: ada)
                let his = try TestClient(service, folder: folder.appending(path: "bob"), as: bob).selfie
                let token = Data((0..<32).map { UInt8($0) })
                let device = try await hers.selfie.registerDevice(token: token)
                #expect(device.platform == .apns && device.isCurrent)
                #expect(try await hers.selfie.devices() == [device])
                #expect(!hers.log.text.contains(device.id) && !"\(device)".contains(device.id))
                let subscription = Subscription(
                    id: "mine",
                    collection: BugReport.collection,
                    where: ["assignedUser": .string(ada.id)],
                    on: [.created, .deleted],
                    channel: .push(alert: "A bug is yours", badge: true)
                )
                try await hers.selfie.save(subscription)
                #expect(try await hers.selfie.subscriptions() == [subscription])

                try await his.records(BugReport.self).create(BugReport(title: "other"), id: "b1")
                try await his.records(BugReport.self).create(BugReport(title: "hers", assignedUser: ada.id), id: "b2")
                let pushes = try await service.pushes()
                #expect(pushes.map(\.id) == ["b2"])
                let json = try JSONSerialization.jsonObject(with: Data(pushes[0].text.utf8)) as? [String: Any]
                let payload = try #require(json?["payload"] as? [String: Any])
                let push = try #require(Push(userInfo: payload))
                #expect(push.subscriptionID == "mine" && push.change == .created)
                #expect(try await hers.selfie.record(of: push, as: BugReport.self)?.fields.title == "hers")
                #expect(try await hers.selfie.record(of: push, as: Priority.self) == nil)
                #expect(Push(userInfo: ["aps": ["alert": "Another service's"]]) == nil)

                try await hers.selfie.removeSubscription("mine")
                try await hers.selfie.removeSubscription("mine")
                try await hers.selfie.removeDevice(device.id)
                #expect(try await hers.selfie.devices().isEmpty)
                #expect(try await hers.selfie.subscriptions().isEmpty)
            }
        }
    }
}
