import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPConnection

@Suite("How many connections there may be")
struct ConnectionPermitsTests {
    private func channel(_ address: String) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
        return channel
    }

    @Test("An address has some, all together no more than there are, and a closed one is free again")
    func limits() throws {
        let permits = ConnectionPermits(total: 3, perAddress: 2, perSite: 3)
        let channels = try ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"].map(channel)
        #expect(channels.map(permits.admit) == [true, true, false, true, false])
        #expect(permits.count == 3 && permits.closedCount == 2)
        _ = try channels[0].finish()
        #expect(permits.count == 2)
        let next = try channel("192.0.2.3")
        #expect(permits.admit(next))
        for channel in channels.dropFirst() + [next] { _ = try? channel.finish(acceptAlreadyClosed: true) }
        #expect(permits.count == 0)
    }

    @Test("An IPv6 network is one address, and an IPv4 address is the same in both spellings")
    func networks() throws {
        for (first, second, isSame) in [
            ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true), ("2001:db8::1", "2001:db8:0:1::1", false),
            ("::ffff:192.0.2.1", "192.0.2.1", true), ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false),
            ("::1", "192.0.2.1", false), ("192.0.2.1", "192.0.2.2", false),
        ] {
            let permits = ConnectionPermits(total: 9, perAddress: 1, perSite: 9)
            let channels = try [first, second].map(channel)
            #expect(permits.admit(channels[0]))
            #expect(permits.admit(channels[1]) == !isSame, "\(first) \(second)")
            for channel in channels { _ = try? channel.finish(acceptAlreadyClosed: true) }
        }
    }

    @Test("A /48 network of IPv6 addresses has some, whatever its /64 networks are")
    func sites() throws {
        let permits = ConnectionPermits(total: 9, perAddress: 2, perSite: 3)
        let addresses = ["2001:db8::1", "2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:ffff::1", "2001:db8:1::1"]
        let channels = try addresses.map(channel)
        #expect(channels.map(permits.admit) == [true, true, true, false, true])
        #expect(permits.count == 4 && permits.closedCount == 1)
        _ = try channels[0].finish()
        let next = try channel("2001:db8:0:3::1")
        #expect(permits.admit(next))
        for channel in channels.dropFirst() + [next] { _ = try? channel.finish(acceptAlreadyClosed: true) }
        #expect(permits.count == 0)
    }
}
