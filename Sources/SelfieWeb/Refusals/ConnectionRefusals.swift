package import HTTPConnection
import HTTPTypes
package import Logging
import NIOCore

/// Answers what connections refuse, as handlers' refusals are answered, counted and logged.
package struct ConnectionRefusals: Sendable {
    private let metrics: RequestMetrics
    private let logger: Logger

    /// - Parameters:
    ///   - metrics: Counts them.
    ///   - logger: Gets a line for each.
    package init(metrics: RequestMetrics, logger: Logger) {
        self.metrics = metrics
        self.logger = logger
    }

    /// Refuses a request.
    ///
    /// A request whose handler takes too long is counted and logged at the handler's end.
    package func answer(_ request: RefusedRequest) -> RefusalAnswer {
        let answer = ServiceError(request.refusal).connectionAnswer
        var metadata: Logger.Metadata = ["request_id": "\(request.requestID)"]
        guard request.refusal != .handlerTooSlow else {
            metadata["method"] = request.method.map { "\($0.rawValue)" }
            logger.warning("a request took too long and was answered \(answer.status.code)", metadata: metadata)
            return answer
        }
        let line = RequestLine(
            method: request.method,
            endpoint: nil,
            status: answer.status,
            duration: request.duration,
            byteCount: answer.body.readableBytes,
            // The header may be what could not be read.
            network: ClientAddressReader(trustedProxies: 0).network(headers: [:], socket: request.peer)
        )
        metrics.count(line)
        metadata.merge(line.metadata) { $1 }
        logger.info("request", metadata: metadata)
        return answer
    }
}
