package import NIOCore

/// The limits of a connection.
///
/// The values suit phones on slow networks.
package struct ConnectionLimits: Sendable {
    /// A request's line and header fields together, in bytes.
    var maxHeaderBytes = 16 * 1024
    /// The number of a request's header fields.
    var maxHeaderFields = 100
    /// How long a connection may stay open without a request.
    var idleTimeout: TimeAmount = .seconds(60)
    /// How long a new connection may take to its first request once the server shuts down.
    var firstRequestGrace: TimeAmount = .seconds(1)
    /// How long a request's header may take from its first byte to its last.
    var headerTimeout: TimeAmount = .seconds(20)
    /// The window of time in which a body must make progress.
    ///
    /// A burst at the start of one window allows silence until the end of the next. So the server waits for a silent
    /// client for two windows and a tick at most: less than 30 seconds.
    var bodyWindow: TimeAmount = .seconds(12)
    /// How many bytes must arrive within `bodyWindow` while the server is ready to read.
    var minBodyBytesPerWindow = 3 * 1024
    /// How long a body may take at most, unless `minBodyBytesPerSecond` gives it more.
    ///
    /// Only time in which the server is ready to read counts.
    var bodyTimeout: TimeAmount = .seconds(60)
    /// A body may take as long as its bytes take at this rate: those that it announces, or else those that have come.
    var minBodyBytesPerSecond = 32 * 1024
    /// How many requests of one connection may wait to be answered; more are not parsed.
    var maxWaitingRequests = 8
    /// The most bytes that are read at a time, but for a body.
    var maxReadBytes = 16 * 1024
    /// The most bytes of a body that are read at a time.
    ///
    /// Each piece passes through several tasks. A connection grows to it only while its reads are full.
    var maxBodyReadBytes = 256 * 1024
    /// How many reads a connection has before others have their turn.
    ///
    /// It keeps the memory of as many reads as long as it lives.
    static let maxReadsAtOnce: UInt = 1
    /// The unsent bytes of answers at which a connection becomes unwritable, and writable again.
    ///
    /// Many small answers take several times as much memory.
    var writeBufferWaterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 4 * 1024, high: 8 * 1024)
    /// The unsent bytes of a client at which the system accepts no more.
    ///
    /// By itself it would take some megabytes for each client that is slow.
    var maxUnsentBytes = 32 * 1024
    /// For how long sent bytes may stay unacknowledged, in milliseconds.
    ///
    /// An answer no longer counts once the system has its last byte.
    var maxUnconfirmedMilliseconds = 60_000
    /// The time in which a client must take `minWrittenBytesPerTimeout` of an answer, or all of it.
    var writeTimeout: TimeAmount = .seconds(25)
    /// See `writeTimeout`.
    ///
    /// A phone with a bad connection takes this many bytes in a few seconds.
    var minWrittenBytesPerTimeout = 16 * 1024
    /// How long the server still reads and drops a client's bytes after a refusal.
    ///
    /// Without that, the client would see a reset connection instead of the answer.
    var lingerTimeout: TimeAmount = .seconds(5)
    /// How long the answer to a request that only reads may take once the client has closed its side.
    ///
    /// Some of these clients still wait for the answer; most have left.
    var halfClosedTimeout: TimeAmount = .seconds(2)
    /// How long a client waits for its answer to begin, counted from its request's last byte.
    ///
    /// Then it gets 503.
    ///
    /// Time also counts while the server does not read the body, or has not asked the client to send it. With a tick,
    /// this is less than the 30 seconds after which Heroku's router answers itself ("Request timeout").
    package var answerTimeout: TimeAmount = .seconds(27)
    /// How often the limits are checked.
    var tick: TimeAmount = .seconds(2)

    /// The usual limits.
    ///
    /// Change single values after making this.
    package init() {}
}
