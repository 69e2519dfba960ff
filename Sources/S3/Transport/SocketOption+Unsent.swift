import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension NIOBSDSocket.Option {
    /// How much of what was not sent yet a TCP socket holds before it takes no more; see tcp(7).
    static let notSentLowWaterMark = NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)
}
