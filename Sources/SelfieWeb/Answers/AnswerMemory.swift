import Budgets
import Encodings
import HTTPConnection
import HTTPTypes
import Hummingbird
import NIOCore
import SelfieCore
import Synchronization

/// The memory that one answer takes of the budget: while it is made, and until the socket has taken its last byte.
struct AnswerMemory: Sendable {
    /// What all answers share.
    struct Budget: Sendable {
        /// The holders are users, by their ids.
        let users: ByteBudget<Int>
        /// The holders are sessions, by their ids.
        ///
        /// One may hold half of what its user may. So a stolen token leaves as much to the owner's devices.
        let sessions: ByteBudget<Int>
        let slow: SlowAnswers

        /// - Parameters:
        ///   - users: The budget of users.
        ///   - minTime: How long an answer is under way before it may be ended to make room.
        init(_ users: ByteBudget<Int>, minTime: Duration) {
            self.users = users
            sessions = ByteBudget(maxBytes: .max, maxBytesPerHolder: users.maxBytesPerHolder / 2)
            slow = SlowAnswers(minTime: minTime)
        }
    }

    private let budget: Budget
    private let userID: Int
    private let ofUser: ByteReservation<Int>
    private let ofSession: ByteReservation<Int>
    private let channel: any Channel
    private let tellsOfChange: Bool

    /// About what the largest page takes while it is made.
    static let maxPageBytes = 2 << 20
    /// The most bytes of an answer to a small change, such as that of one record.
    ///
    /// Such an answer need not leave memory for other users.
    static let maxSmallBytes = 80 << 10
    /// The bytes of an answer that needs no share once it is made: the socket takes them at once.
    static let maxUnsharedBytes = 16 << 10

    /// What a buffer takes whose bytes come one after another: it grows to the next power of two.
    static func bufferBytes(_ count: Int) -> Int { 1 << (Int.bitWidth - max(0, count - 1).leadingZeroBitCount) }

    /// Reserves memory before the answer is made.
    ///
    /// When there is none left, slow answers of users who hold more are ended. For a small change, it is the oldest of who
    /// holds the most, whoever that is.
    ///
    /// - Parameters:
    ///   - maxBytes: How much it may take.
    ///   - budget: What all answers share.
    ///   - session: Whose user gets the answer.
    ///   - context: The request's connection.
    ///   - tellsOfChange: Whether it tells what was changed, which is told in any case.
    /// - Throws: `NoBytes`.
    init(
        _ maxBytes: Int,
        of budget: Budget,
        for session: Session,
        _ context: SessionRequestContext,
        tellsOfChange: Bool = false
    ) throws(NoBytes) {
        self.budget = budget
        userID = session.userID
        ofUser = ByteReservation(of: budget.users, for: session.userID)
        ofSession = ByteReservation(of: budget.sessions, for: session.id)
        channel = context.channel
        self.tellsOfChange = tellsOfChange
        try resize(to: maxBytes)
    }

    private func resize(to count: Int) throws(NoBytes) {
        let isSmallChange = tellsOfChange && count <= Self.maxSmallBytes
        try ofSession.resize(to: count)
        while true {
            do throws(NoBytes) {
                return try ofUser.resize(to: count, leavesSome: !isSmallChange)
            } catch {
                let wanted = isSmallChange ? 0 : budget.users.bytesUsed(by: userID) + count - ofUser.byteCount
                guard error == .allTaken, budget.slow.endOne(ofWhoHolds: wanted, in: budget.users) else {
                    ofSession.shrink(to: ofUser.byteCount)
                    throw error
                }
            }
        }
    }

    /// The body of the answer.
    ///
    /// - Parameter bytes: What it is to say.
    /// - Returns: The body, which counts until it is sent.
    /// - Throws: `NoBytes` when it is longer than expected and there is no room, unless it tells of a change.
    fileprivate func body(_ bytes: ByteBuffer) throws(NoBytes) -> ResponseBody {
        guard bytes.readableBytes > Self.maxUnsharedBytes else {
            ofUser.giveBack()
            ofSession.giveBack()
            return ResponseBody(byteBuffer: bytes)
        }
        do throws(NoBytes) {
            try resize(to: bytes.storageCapacity)
        } catch {
            guard tellsOfChange else { throw error }
        }
        let place = budget.slow.begin(of: userID, [ofUser, ofSession], on: channel)
        return ResponseBody([bytes], holding: (self, place), sentOn: channel)
    }
}

extension ResponseBody {
    /// Pieces that the client gets as fast as it takes them.
    ///
    /// - Parameters:
    ///   - pieces: All of them.
    ///   - share: What they hold of a budget. It is dropped when the socket has taken the last byte.
    ///   - channel: The connection.
    init(_ pieces: [ByteBuffer], holding share: some Sendable, sentOn channel: any Channel) {
        // Each is dropped once it is written: whoever compresses them holds the share for what comes out.
        let rest = Mutex(Array(pieces.reversed()))
        self.init(contentLength: pieces.reduce(0) { $0 + $1.readableBytes }) { writer in
            while let piece = rest.withLock({ $0.popLast() }) { try await writer.write(piece) }
            try await channel.waitUntilSent()
            try await writer.finish(nil)
            withExtendedLifetime(share) {}
        }
    }
}

extension Response {
    /// An answer whose body is one JSON object, and which counts until it is sent.
    ///
    /// - Throws: `NoBytes`; see ``AnswerMemory``.
    static func json(within memory: AnswerMemory, _ members: (inout JSONWriter) -> Void) throws(NoBytes) -> Response {
        var json = JSONWriter()
        json.object(members)
        return try Response(json, within: memory)
    }

    /// An answer with this JSON as its body, which counts until it is sent.
    ///
    /// - Throws: `NoBytes`; see ``AnswerMemory``.
    init(_ json: borrowing JSONWriter, within memory: AnswerMemory) throws(NoBytes) {
        let body = try memory.body(json.buffer)
        self.init(status: .ok, headers: [.contentType: jsonContentType], body: body)
    }
}
