import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPConnection

@Suite("The wheel that checks the limits of connections")
struct TimingWheelTests {
    private final class Owner {
        var (slot, checkCount) = (0, 0)
    }

    private let eventLoop = EmbeddedEventLoop()

    private func wheel(turn: TimeAmount = .seconds(2)) -> TimingWheel {
        TimingWheel(eventLoop: eventLoop, turn: turn)
    }

    private func add(_ count: Int, to wheel: TimingWheel) -> [Owner] {
        (0..<count).map { _ in
            let owner = Owner()
            owner.slot = wheel.add(owner) { [unowned owner] in owner.checkCount += 1 }
            return owner
        }
    }

    @Test("Each is checked once a turn, and those who came together are not checked together")
    func turns() {
        let wheel = wheel()
        let owners = add(100, to: wheel)
        for turn in 1...3 {
            var most = 0
            for _ in 0..<40 {
                let before = owners.reduce(0) { $0 + $1.checkCount }
                eventLoop.advanceTime(by: .milliseconds(50))
                most = max(most, owners.reduce(0) { $0 + $1.checkCount } - before)
            }
            #expect(owners.allSatisfy { $0.checkCount == turn } && most == 3)
        }
    }

    @Test("A single one is checked after a turn each time, however short that is", arguments: [2_000, 100, 50, 10, 1])
    func single(milliseconds: Int64) {
        let owners = add(1, to: wheel(turn: .milliseconds(milliseconds)))
        for turn in 1...3 {
            eventLoop.advanceTime(by: .milliseconds(milliseconds) - .nanoseconds(1))
            #expect(owners[0].checkCount == turn - 1)
            eventLoop.advanceTime(by: .nanoseconds(1))
            #expect(owners[0].checkCount == turn)
        }
    }

    @Test("A removed entry is not checked again, and the wheel rests until another is added")
    func removal() {
        let wheel = wheel()
        let owners = add(3, to: wheel)
        eventLoop.advanceTime(by: .seconds(2))
        for owner in owners.dropFirst() { wheel.remove(owner, from: owner.slot) }
        // Once more does no harm.
        wheel.remove(owners[1], from: owners[1].slot)
        eventLoop.advanceTime(by: .seconds(2))
        #expect(owners.map(\.checkCount) == [2, 1, 1])
        wheel.remove(owners[0], from: owners[0].slot)
        eventLoop.advanceTime(by: .milliseconds(2_050))
        #expect(wheel.isResting)
        let later = add(1, to: wheel)
        eventLoop.advanceTime(by: .milliseconds(1_999))
        #expect(later[0].checkCount == 0)
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(later[0].checkCount == 1 && owners.map(\.checkCount) == [2, 1, 1])
    }

    @Test("A check may remove itself, and one that is due at the same time")
    func removalByCheck() {
        let wheel = wheel(turn: .milliseconds(50))
        var (owners, checkCount): ([Owner], Int) = ([], 0)
        for _ in 0..<5 {
            let owner = Owner()
            owner.slot = wheel.add(owner) {
                checkCount += 1
                for owner in owners { wheel.remove(owner, from: owner.slot) }
            }
            owners.append(owner)
        }
        eventLoop.advanceTime(by: .seconds(1))
        #expect(checkCount == 1 && wheel.isResting)
    }
}
