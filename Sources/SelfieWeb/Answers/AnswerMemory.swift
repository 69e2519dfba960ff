import Budgets
import Encodings
import HTTPConnection
import HTTPTypes
import Hummingbird
import NIOCore
import SelfieCore

/// The memory that one answer takes of the budget: while it is made, and until the socket has taken its last byte.
struct AnswerMemory: Sendable {
    private let reservation: ByteReservation<Int>
    private let channel: any Channel

    /// About what the largest page takes while it is made.
    static let maxPageBytes = 2 << 20
    /// The bytes of an answer that needs no share once it is made: the socket takes them at once.
    private static let maxUnsharedBytes = 16 << 10

    /// Reserves memory before the answer is made.
    ///
    /// - Parameters:
    ///   - maxBytes: How much it may take.
    ///   - budget: What all answers share.
    ///   - session: Whose user gets the answer.
    ///   - context: The request's connection.
    /// - Throws: `NoBytes`.
    init(
        _ maxBytes: Int = maxPageBytes,
        of budget: ByteBudget<Int>,
        for session: Session,
        _ context: SessionRequestContext
    ) throws(NoBytes) {
        reservation = ByteReservation(of: budget, for: session.userID)
        channel = context.channel
        try reservation.grow(by: min(maxBytes, Self.maxPageBytes))
    }

    /// The body of the answer.
    ///
    /// What was done is told in any case. So an answer that is longer than expected counts as far as there is room.
    fileprivate func body(_ bytes: ByteBuffer) -> ResponseBody {
        guard bytes.readableBytes > Self.maxUnsharedBytes else {
            reservation.giveBack()
            return ResponseBody(byteBuffer: bytes)
        }
        let missing = bytes.storageCapacity - reservation.byteCount
        if missing > 0 { try? reservation.grow(by: missing) } else { reservation.shrink(to: bytes.storageCapacity) }
        return ResponseBody(contentLength: bytes.readableBytes) { [channel, reservation] writer in
            try await writer.write(bytes)
            try await channel.waitUntilSent()
            try await writer.finish(nil)
            withExtendedLifetime(reservation) {}
        }
    }
}

extension Response {
    /// An answer whose body is one JSON object, and which counts until it is sent.
    static func json(within memory: AnswerMemory, _ members: (inout JSONWriter) -> Void) -> Response {
        var json = JSONWriter()
        json.object(members)
        return Response(json, within: memory)
    }

    /// An answer with this JSON as its body, which counts until it is sent.
    init(_ json: borrowing JSONWriter, within memory: AnswerMemory) {
        self.init(status: .ok, headers: [.contentType: jsonContentType], body: memory.body(json.buffer))
    }
}
