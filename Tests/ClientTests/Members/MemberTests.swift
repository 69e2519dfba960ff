import ClientTestSupport
import Foundation
import SelfieClient
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The Swift client's members")
struct MemberTests {
    @Test("Profiles change, members are found, and roles are given and taken", .timeLimit(.minutes(1)))
    func members() async throws {
        try await TestService.runWithSchema(settings: ["DIRECTORY": "members", "RATE_LIMITS": "off"]) { service in
            let ada = try await service.addMember("ada", role: "leads")
            let bob = try await service.addMember("bob")
            try await TemporaryFolder.with { folder in
                let hers = try TestClient(service, folder: folder.appending(path: "ada"), as: ada).selfie
                let his = try TestClient(service, folder: folder.appending(path: "bob"), as: bob).selfie
                let photo = try await his.photos.upload(.data(TestImage.jpeg), title: "Me")
                let profile = try await his.updateProfile(
                    ProfileChange(
                        firstName: "Bob",
                        title: "Baker",
                        picture: photo.id,
                        showsEmail: true,
                        fields: ["color": "blue", "age": 41]
                    )
                )
                #expect(profile.title == "Baker" && profile.fields == ["color": "blue", "age": 41])
                let changed = try await his.updateProfile(ProfileChange(fields: ["age": .null]))
                #expect(changed.fields == ["color": "blue"] && changed.title == "Baker")
                let found = try await hers.members(startingWith: "bak")
                #expect(found.members.map(\.id) == [bob.id] && found.next == nil)
                let member = try await hers.member(bob.id)
                #expect(member.email == "bob@example.com" && member.fields == ["color": "blue"])
                let picture = try #require(member.picture)
                #expect(try await hers.photos.data(of: picture) == TestImage.jpeg)

                await #expect(throws: SelfieError.self) { try await his.add(ada.id, toRole: "team") }
                try await hers.add(bob.id, toRole: "team")
                #expect(try await hers.members(ofRole: "team").members.map(\.id) == [bob.id])
                try await his.records(BugReport.self).create(BugReport(title: "a"), id: "b1")
                try await hers.remove(bob.id, fromRole: "team")
                #expect(try await hers.members(ofRole: "team").members.isEmpty)
                await #expect(throws: SelfieError.self) { try await his.records(BugReport.self).record("b1") }
            }
        }
    }
}
