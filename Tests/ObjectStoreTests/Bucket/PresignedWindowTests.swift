import Foundation
import Testing

@testable import ObjectStore

@Suite("For how long a URL to the bucket works")
struct PresignedWindowTests {
    private static let hour = 3600.0
    /// A full hour.
    private static let start = Date(timeIntervalSince1970: 480_000 * hour)

    @Test("It is the same for all who ask within an hour", arguments: [0, 0.001, 1, 1800, 3599, 3599.999])
    func sameWindow(offset: TimeInterval) {
        let window = PresignedWindow(at: Self.start + offset, endingBy: .distantFuture)
        #expect(window.start == Self.start)
        #expect(window.seconds == 7200)
        #expect(window.end == Self.start + 7200)
    }

    @Test("The next hour has its own")
    func nextWindow() {
        #expect(PresignedWindow(at: Self.start + 3600, endingBy: .distantFuture).start == Self.start + 3600)
        #expect(PresignedWindow(at: Self.start - 0.001, endingBy: .distantFuture).start == Self.start - 3600)
    }

    @Test("It ends no later than it must, and not before the present", arguments: [1, 30, 1799, 3600, 5400])
    func earlyEnd(left: TimeInterval) {
        let now = Self.start + 1800
        let window = PresignedWindow(at: now, endingBy: now + left)
        #expect(window.start == Self.start)
        #expect(window.end <= now + left)
        #expect(window.end > now)
    }
}
