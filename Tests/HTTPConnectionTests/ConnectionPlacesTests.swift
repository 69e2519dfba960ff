import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPConnection

@Suite("How many connections there may be")
struct ConnectionPlacesTests {
    private func channel(_ address: String) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
        return channel
    }

    @Test("An address has some, all together no more than there are, and a closed one is free again")
    func limits() throws {
        let places = ConnectionPlaces(total: 3, perAddress: 2, perSite: 3)
        let channels = try ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"].map(channel)
        #expect(channels.map(places.admit) == [true, true, false, true, false])
        #expect(places.count == 3 && places.closedCount == 2)
        _ = try channels[0].finish()
        #expect(places.count == 2)
        let next = try channel("192.0.2.3")
        #expect(places.admit(next))
        for channel in channels.dropFirst() + [next] { _ = try? channel.finish(acceptAlreadyClosed: true) }
        #expect(places.count == 0)
    }

    @Test("An IPv6 network is one address, and an IPv4 address is the same in both spellings")
    func networks() throws {
        for (first, second, isSame) in [
            ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true), ("2001:db8::1", "2001:db8:0:1::1", false),
            ("::ffff:192.0.2.1", "192.0.2.1", true), ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false),
            ("::1", "192.0.2.1", false), ("192.0.2.1", "192.0.2.2", false),
        ] {
            let places = ConnectionPlaces(total: 9, perAddress: 1, perSite: 9)
            let channels = try [first, second].map(channel)
            #expect(places.admit(channels[0]))
            #expect(places.admit(channels[1]) == !isSame, "\(first) \(second)")
            for channel in channels { _ = try? channel.finish(acceptAlreadyClosed: true) }
        }
    }

    @Test("A /48 network of IPv6 addresses has some, whatever its /64 networks are")
    func sites() throws {
        let places = ConnectionPlaces(total: 9, perAddress: 2, perSite: 3)
        let addresses = ["2001:db8::1", "2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:ffff::1", "2001:db8:1::1"]
        let channels = try addresses.map(channel)
        #expect(channels.map(places.admit) == [true, true, true, false, true])
        #expect(places.count == 4 && places.closedCount == 1)
        _ = try channels[0].finish()
        let next = try channel("2001:db8:0:3::1")
        #expect(places.admit(next))
        for channel in channels.dropFirst() + [next] { _ = try? channel.finish(acceptAlreadyClosed: true) }
        #expect(places.count == 0)
    }
}
