/// The time limits of calls.
///
/// Together they promise two things. A call to a store that refuses connections or stays silent fails within
/// ``giveUp``, or within ``list`` if it is for many objects. No put lasts longer than ``put`` or ``putInParts``.
package struct S3Deadlines: Sendable, Hashable {
    /// For opening a connection, with the wait for a free one in the pool.
    package var connect: Duration = .seconds(2)
    /// For an idle connection, until it is closed.
    ///
    /// S3 closes idle connections after 5 to 20 s. Closing first avoids sending into a closed one.
    package var idle: Duration = .seconds(3)
    /// Without a sign of life: the store takes no byte of the body and sends no byte of an answer.
    ///
    /// It never ends a body that is still moving.
    package var silence: Duration = .seconds(4)
    /// No further attempt begins after this time.
    ///
    /// It counts from the call's start or the store's last sign of life.
    package var retryWindow: Duration = .seconds(3)
    /// For all attempts of a call together, while the store gives no sign of life.
    ///
    /// A later attempt may be silent for less than ``silence``, so that the sum stays within this.
    package var giveUp: Duration = .milliseconds(4_400)
    /// For a whole put: every attempt, and the making of a missing bucket.
    package var put: Duration = .seconds(20)
    /// For a whole put of an object that goes in parts: sixteen of 100 MB at once take about 20 s on two cores.
    ///
    /// The connection answers 503 after 27 s.
    package var putInParts: Duration = .seconds(25)
    /// For every other call.
    ///
    /// For a get it ends when the answer begins; then ``silence`` holds between bytes.
    package var call: Duration = .seconds(5)

    /// For a whole call that lists, or deletes, up to a thousand objects.
    ///
    /// Until it answers, the store may be silent.
    package var list: Duration = .seconds(15)

    /// The usual deadlines.
    ///
    /// Change single ones after making this.
    package init() {}
}
