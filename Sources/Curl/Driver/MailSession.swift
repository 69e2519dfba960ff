import CLibCurl
import Concurrency

/// Hands one mail to a server, on a thread of its own.
///
/// Others share a thread, which must never wait. libcurl waits in this protocol: for the reply to a whole message, and for
/// the reply to `QUIT` (smtp.c, `smtp_done` and `smtp_disconnect`, in all versions so far).
final class MailSession: Sendable {
    private let transfer: Transfer
    private let configuration: CurlConfiguration
    private let trust: TrustStore?
    private let sockets = MailSockets()

    init(_ transfer: Transfer, configuration: CurlConfiguration, trust: TrustStore?) {
        (self.transfer, self.configuration, self.trust) = (transfer, configuration, trust)
    }

    /// Begins.
    ///
    /// - Parameter limit: When it is given up. Soon afterwards libcurl ends it by itself.
    /// - Throws: ``CurlError/invalidRequest(_:)`` when there is no thread.
    func start(within limit: Duration) throws(CurlError) {
        guard DetachedThread.run("mail", { [self] in run(within: limit) }) else {
            throw .invalidRequest("the system has no thread for it")
        }
    }

    /// Ends it, without another byte to the server: a message that was cut off must not look whole.
    func hangUp() {
        transfer.finish(.cancelled)
        sockets.hangUp()
    }

    private func run(within limit: Duration) {
        do throws(CurlError) {
            guard LibCurl.isReady else { throw .invalidRequest("this machine's libcurl is not built with OpenSSL") }
            let easy = try EasyHandle(transfer, configuration: configuration, trust: trust, mailSockets: sockets)
            // Later than whoever waits for it gives up.
            try easy.limit(to: limit + .seconds(1))
            let code = curl_easy_perform(easy.handle)
            transfer.finish(easy.failure(of: code))
        } catch {
            transfer.finish(error)
        }
        sockets.close()
    }
}
