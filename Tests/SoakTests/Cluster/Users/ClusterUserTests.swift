import Testing

@Suite("What users of the soak of a cluster know")
struct ClusterUserTests {
    @Test("A call adds one to a version for each time that it was sent, at most")
    func versions() {
        #expect(ClusterRecords.follows(3, 2, times: 1))
        #expect(ClusterRecords.follows(1, 0, times: 1))
        // It has taken effect twice, or not at all.
        #expect(!ClusterRecords.follows(4, 2, times: 1))
        #expect(!ClusterRecords.follows(2, 2, times: 1))
        #expect(ClusterRecords.follows(4, 2, times: 2))
        #expect(!ClusterRecords.follows(5, 2, times: 2))
    }

    @Test("Users who stay have a partner who stays, and block others")
    func members() {
        for number in 0..<200 where ClusterMembers.stays(number) {
            let partner = ClusterMembers.partner(of: number)
            #expect(ClusterMembers.stays(partner))
            #expect(ClusterMembers.partner(of: partner) == number)
            let strangers = ClusterMembers.strangers(to: number)
            #expect(strangers.count == 4)
            #expect(!strangers.contains(number) && !strangers.contains(partner))
            #expect(strangers.allSatisfy(ClusterMembers.stays))
        }
        #expect((0..<200).count(where: ClusterMembers.stays) == 150)
    }

    @Test("A message may be there from when it is sent, and must be there once that is answered, until it is deleted")
    func messages() {
        let members = ClusterMembers()
        members.begin("m1", "hello", to: 1)
        #expect(members.texts(to: 1) == ["m1": "hello"])
        #expect(members.due(to: 1).isEmpty)
        members.sent("m1", to: 1)
        #expect(members.due(to: 1) == ["m1"])
        #expect(members.due(to: 0).isEmpty)
        members.deleted("m1", of: 1)
        // The answer to its sender comes late.
        members.sent("m1", to: 1)
        #expect(members.due(to: 1).isEmpty)
        #expect(members.texts(to: 1).isEmpty)
    }

    @Test("A message that the feed lacks is missed, and one that nobody sent is strange")
    func inbox() {
        let calls = ClusterCalls(edges: [])
        let client = ClusterClient(number: 1, calls: calls)
        let members = ClusterMembers()
        let messages = ClusterMessages(members: members)
        members.begin("m1", "hello", to: 1)
        messages.expect(["m1": 1], due: ["m1"], client)
        #expect(calls.violations.isEmpty)
        messages.expect([:], due: ["m1"], client)
        messages.expect(["m1": 1, "m2": 1], due: ["m1"], client)
        #expect(calls.violations.count == 2)
    }

    @Test("An hour has each kind of call")
    func calls() {
        #expect(ClusterUser.unanswered([:], in: .seconds(3599)).isEmpty)
        let missing = ClusterUser.unanswered([:], in: .seconds(3600))
        #expect(missing.contains("made small picture") && missing.contains("delete account"))
        let all = Dictionary(uniqueKeysWithValues: missing.map { ($0, 1) })
        #expect(ClusterUser.unanswered(all, in: .seconds(3600)).isEmpty)
    }
}
