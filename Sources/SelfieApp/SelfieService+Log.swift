import Budgets
import Logging
import SelfieConfiguration

extension SelfieService {
    /// Lines about the settings: what is dangerous, and how much is served at once.
    func noteSettings(_ connections: ConnectionBudget) {
        if configuration.getsTokenWithoutPassword {
            logger.warning(
                "GET_TOKEN_WITHOUT_PASSWORD is on: anyone with the API's credential can take over any account"
            )
        }
        if configuration.rateLimits == nil {
            let who = configuration.hasGallery ? "anyone" : "anyone with the API's credential"
            logger.warning("RATE_LIMITS is off: \(who) can try any number of passwords")
        }
        logger.info("\(configuration.trustedProxies)")
        let downloads = connections.downloads
        logger.info("at most \(connections.total) connections at once, \(connections.perAddress) of one address")
        logger.info("at most \(downloads.total) photos sent at once, \(downloads.perHolder) to one address")
    }

    /// One line with the version, where it listens, and the settings that are not the usual ones.
    func noteStart(port: Int) {
        var metadata: Logger.Metadata = [
            "version": "\(SelfieVersion.current)", "address": "\(hostname)", "port": .stringConvertible(port),
        ]
        for (key, value) in configuration.differingSettings { metadata[key] = "\(value)" }
        logger.info("serving", metadata: metadata)
    }
}
