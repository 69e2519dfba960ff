/// How long a call may wait for what.
///
/// Together they promise two things. A call to a store that refuses connections or stays silent fails within
/// ``giveUp``. No put lasts longer than ``put`` or ``putInParts``.
package struct S3Deadlines: Sendable, Hashable {
    /// For a connection to stand, waiting for a free one in the pool included.
    package var connect: Duration = .seconds(2)
    /// For a connection that nobody uses, until it is closed.
    ///
    /// S3 closes idle connections after 5 to 20 s; who closes first never sends into a closed one.
    package var idle: Duration = .seconds(3)
    /// Without a sign of life: no byte of the body taken, no answer begun, no byte of the answer come.
    ///
    /// A body that is still moving is never cut off by it, however long it takes.
    package var silence: Duration = .seconds(4)
    /// After which no further try begins, counted from the call's begin or the store's last sign of life.
    package var retryWindow: Duration = .seconds(3)
    /// For all tries of a call together, as long as the store gives no sign of life.
    ///
    /// A later try is allowed less silence than ``silence``, so that the sum stays within.
    package var giveUp: Duration = .milliseconds(4_400)
    /// For a whole put: every try, and the making of a missing bucket.
    package var put: Duration = .seconds(20)
    /// For a whole put of an object that goes in parts: sixteen of 100 MB at once take about 20 s on two cores.
    ///
    /// The connection answers 503 after 27 s.
    package var putInParts: Duration = .seconds(25)
    /// For every other whole call; of a get until its answer begins, from there ``silence`` holds between bytes.
    package var call: Duration = .seconds(5)

    /// For a whole call that lists, or deletes, up to a thousand objects.
    package var list: Duration = .seconds(15)

    /// The deadlines in use; change single ones after.
    package init() {}
}
