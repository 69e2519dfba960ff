package import NIOCore

/// How much and how long a connection may take; the values are chosen for phones on slow networks.
package struct ConnectionLimits: Sendable {
    /// A request's line and header fields together, in bytes.
    var maxHeaderBytes = 16 * 1024
    /// The number of a request's header fields.
    var maxHeaderFields = 100
    /// How long a connection may stay open without a request.
    var idleTimeout: TimeAmount = .seconds(60)
    /// How long a request's header may take from its first byte to its last.
    var headerTimeout: TimeAmount = .seconds(20)
    /// The stretch of time over which a body's progress is judged.
    ///
    /// A burst at the start of one excuses silence to the end of the next, but no longer. So a silent client is waited
    /// for no longer than two of them and a tick, less than 30 seconds.
    var bodyWindow: TimeAmount = .seconds(12)
    /// What must arrive within `bodyWindow` while the server is ready to read.
    var minBodyBytesPerWindow = 3 * 1024
    /// The stretch of time within which a client must take `minWrittenBytesPerTimeout` of an answer, or all of it.
    var writeTimeout: TimeAmount = .seconds(25)
    /// See `writeTimeout`; a phone at the edge of its network takes so much in a few seconds.
    var minWrittenBytesPerTimeout = 16 * 1024
    /// How long the server reads and drops what a client still sends after a refusal. So the client sees the answer
    /// instead of a reset connection.
    var lingerTimeout: TimeAmount = .seconds(5)
    /// How long the answer to a request that only reads may take once the client has closed its side. Some clients that
    /// do still wait for the answer; most are gone.
    var halfClosedTimeout: TimeAmount = .seconds(2)
    /// How long a client waits for its answer to begin, from its request's last byte on; then the answer is 503.
    ///
    /// It also waits while the server leaves its body unread, or gives no leave to send it. With a tick that is less
    /// than the 30 seconds after which routers answer themselves: Heroku, "Request timeout".
    package var answerTimeout: TimeAmount = .seconds(27)
    /// How often the clock is looked at.
    var tick: TimeAmount = .seconds(2)

    /// The limits in use; change single values after.
    package init() {}
}
