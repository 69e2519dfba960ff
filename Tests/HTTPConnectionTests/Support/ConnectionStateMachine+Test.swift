import NIOCore
import NIOHTTP1

@testable import HTTPConnection

extension ConnectionStateMachine {
    /// A request's head comes.
    mutating func requestHead(isKeepAlive: Bool, expectsContinue: Bool, isSafe: Bool, now: NIODeadline) {
        requestHead(
            Exchange(requestID: "", method: isSafe ? .GET : .POST),
            isKeepAlive: isKeepAlive,
            expectsContinue: expectsContinue,
            now: now
        )
    }
}
