extension PostgresClient {
    /// How many events wait for a slow listener before some are dropped, and it gets `mayHaveMissed`.
    private static let maxBufferedEvents = 1024

    /// Listens to a channel, on a connection of its own beside the pool's.
    ///
    /// The first event is `.mayHaveMissed`, once listening has begun. A listener that loads its data at each such event
    /// misses nothing. A lost connection is opened again as long as there is a listener.
    ///
    /// - Parameter channel: The channel's name. Upper and lower case differ; the first 63 bytes count.
    /// - Returns: Events, for one listener, until its task is cancelled, the sequence is dropped or the client is closed.
    package func listen(to channel: String) -> AsyncStream<PostgresNotificationEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PostgresNotificationEvent.self,
            bufferingPolicy: .bufferingOldest(Self.maxBufferedEvents)
        )
        let listener = NotificationListener(
            channel: channel,
            configuration: configuration.forListening,
            events: continuation
        )
        guard let id = listeners.add(listener) else {
            continuation.finish()
            return stream
        }
        listener.start()
        continuation.onTermination = { [listeners] _ in
            listeners.remove(id)?.stop()
        }
        return stream
    }
}
