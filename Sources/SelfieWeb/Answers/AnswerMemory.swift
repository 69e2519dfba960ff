import Budgets
import HTTPConnection
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import SelfieAccounts
import Synchronization

/// The memory that one answer takes of the budget: while it is made, and until the socket has taken its last byte.
final class AnswerMemory: Sendable {
    private let budget: Budget
    private let userID: Int
    private let ofUser: Permit<Int>
    private let ofSession: Permit<Int>
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

    /// The memory of a buffer that is filled step by step: it grows to the next power of two.
    static func bufferBytes(_ count: Int) -> Int { 1 << (Int.bitWidth - max(0, count - 1).leadingZeroBitCount) }

    /// Reserves memory before the answer is made.
    ///
    /// When there is none left, slow answers of users who hold more are ended. For a small change, it is the oldest answer of
    /// the user who holds the most.
    ///
    /// - Parameters:
    ///   - maxBytes: How much it may take.
    ///   - budget: What all answers share.
    ///   - context: The request's session and connection.
    ///   - tellsOfChange: Whether it describes what the request has changed. Such an answer is sent in any case.
    /// - Throws: `TooBusy`.
    init(
        _ maxBytes: Int,
        of budget: Budget,
        for context: SessionRequestContext,
        tellsOfChange: Bool = false
    ) throws(TooBusy) {
        self.budget = budget
        userID = context.session.userID
        ofUser = budget.users.none(for: userID)
        ofSession = budget.sessions.none(for: context.session.id)
        channel = context.channel
        self.tellsOfChange = tellsOfChange
        try resize(to: maxBytes)
    }

    deinit {
        budget.sent(self)
    }

    private func resize(to count: Int) throws(TooBusy) {
        let isSmallChange = tellsOfChange && count <= Self.maxSmallBytes
        try ofSession.resize(to: count)
        while true {
            do throws(TooBusy) {
                return try ofUser.resize(to: count, leavesSome: !isSmallChange)
            } catch {
                let wanted = isSmallChange ? 0 : budget.users.inUse(by: userID) + count - ofUser.count
                guard case .everyone = error, budget.endOne(ofUserWith: wanted) else {
                    ofSession.release(downTo: ofUser.count)
                    throw error
                }
            }
        }
    }

    /// The body of the answer.
    ///
    /// - Parameter bytes: The answer's bytes.
    /// - Returns: The body, which counts until it is sent.
    /// - Throws: `TooBusy` when it is longer than expected and there is no room, unless it describes a change.
    fileprivate func body(_ bytes: ByteBuffer) throws(TooBusy) -> ResponseBody {
        guard bytes.readableBytes > Self.maxUnsharedBytes else {
            ofUser.release()
            ofSession.release()
            return ResponseBody(byteBuffer: bytes)
        }
        do throws(TooBusy) {
            try resize(to: bytes.storageCapacity)
        } catch {
            guard tellsOfChange else { throw error }
        }
        budget.begun(self)
        return ResponseBody([bytes], holding: self, sentOn: channel)
    }
}

extension AnswerMemory {
    /// The memory of all answers.
    ///
    /// It has a list of the answers that clients are reading. The oldest of them can be ended to make room for others.
    /// Without that, a few accounts that read very slowly would keep all others from their records for half an hour.
    final class Budget: Sendable {
        /// The holders are users, by their ids.
        let users: Permits<Int>
        /// The holders are sessions, by their ids.
        ///
        /// One may hold half of what its user may. So a stolen token leaves as much to the owner's devices.
        let sessions: Permits<Int>
        private let minTime: Duration
        private let answers = Mutex<[ObjectIdentifier: SlowAnswer]>([:])

        private struct SlowAnswer {
            let userID: Int
            let start: ContinuousClock.Instant
            let permits: [Permit<Int>]
            let channel: any Channel
        }

        /// - Parameters:
        ///   - users: The bytes of all answers; the holders are users.
        ///   - minTime: How long an answer is under way before it may be ended to make room.
        init(_ users: Permits<Int>, minTime: Duration) {
            self.users = users
            sessions = Permits("MEMORY", per: "USER", PermitLimits(total: .max, perHolder: users.limits.perHolder / 2))
            self.minTime = minTime
        }

        /// A client begins to take an answer.
        fileprivate func begun(_ memory: AnswerMemory) {
            let answer = SlowAnswer(
                userID: memory.userID,
                start: .now,
                permits: [memory.ofUser, memory.ofSession],
                channel: memory.channel
            )
            answers.withLock { $0[ObjectIdentifier(memory)] = answer }
        }

        /// A client has taken all of an answer.
        fileprivate func sent(_ memory: AnswerMemory) {
            answers.withLock { $0[ObjectIdentifier(memory)] = nil }
        }

        /// Ends the oldest answer of the user who holds the most, so that its bytes are free.
        ///
        /// Its client notices: the answer is shorter than its header says.
        ///
        /// - Parameter bytes: How many bytes that user must hold at least.
        /// - Returns: Whether there was one.
        fileprivate func endOne(ofUserWith bytes: Int) -> Bool {
            let latest = ContinuousClock.now - minTime
            let ended = answers.withLock { answers -> SlowAnswer? in
                let largest = answers.filter { $0.value.start <= latest }
                    .map { (id: $0.key, start: $0.value.start, bytes: users.inUse(by: $0.value.userID)) }
                    .filter { $0.bytes >= bytes }.max { ($0.bytes, $1.start) < ($1.bytes, $0.start) }
                return largest.flatMap { answers.removeValue(forKey: $0.id) }
            }
            guard let ended else { return false }
            for permit in ended.permits { permit.release() }
            ended.channel.close(promise: nil)
            return true
        }
    }
}

extension ResponseBody {
    /// Pieces that the client gets as fast as it takes them.
    ///
    /// - Parameters:
    ///   - pieces: All of them.
    ///   - share: Their share of a budget. It is dropped when the socket has taken the last byte.
    ///   - channel: The connection.
    init(_ pieces: [ByteBuffer], holding share: some Sendable, sentOn channel: any Channel) {
        // Each is dropped once it is written. After compression, the compressor holds the share for its output.
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
    /// - Throws: `TooBusy`; see ``AnswerMemory``.
    static func json(within memory: AnswerMemory, _ members: (inout JSONWriter) -> Void) throws(TooBusy) -> Response {
        var json = JSONWriter()
        json.object(members)
        return try Response(json, within: memory)
    }

    /// An answer with this JSON as its body, which counts until it is sent.
    ///
    /// - Throws: `TooBusy`; see ``AnswerMemory``.
    init(_ json: borrowing JSONWriter, within memory: AnswerMemory) throws(TooBusy) {
        let body = try memory.body(json.buffer)
        self.init(status: .ok, headers: [.contentType: jsonContentType], body: body)
    }
}
