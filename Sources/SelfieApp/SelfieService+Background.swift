import HTTPConnection
import SelfieAccounts
import SelfieConfiguration
import SelfieCore
import SelfiePhotos
import ServiceLifecycle

extension SelfieService {
    /// The work beside requests.
    func backgroundServices(_ useCases: UseCases, _ connections: ConnectionPermits) -> [any Service] {
        let trimmer = MemoryTrimmer()
        let closedConnections = ClosedConnectionReport(connections: connections, logger: logger)
        let renditions =
            useCases.photos.makeRendition.map {
                [RenditionService(make: $0, includesBacklog: rendersInBackground)]
            } ?? []
        let heartbeats =
            configuration.readsStandby
            ? [PeriodicService(interval: heartbeatInterval) { await useCases.accounts.heartbeat.beatOrWarn() }] : []
        return renditions + heartbeats + [
            DeliveryService(worker: useCases.deliveries),
            PeriodicService(interval: sweepInterval) { await useCases.photos.sweeper.sweepOrWarn() },
            PeriodicService(interval: sweepInterval) { await useCases.housekeeper.finishDeletions() },
            PeriodicService(interval: tidyInterval) { await useCases.housekeeper.tidy() },
            PeriodicService(interval: expiryInterval) { await useCases.housekeeper.removeExpiredRecords() },
            PeriodicService(interval: sessionUseInterval) {
                await useCases.accounts.sessionUses.writeDown(pausing: .milliseconds(100))
            } atEnd: {
                await useCases.accounts.sessionUses.writeDown()
            },
            PeriodicService(interval: undecryptablePasswordInterval) {
                await useCases.accounts.undecryptablePasswords.writeDown()
            } atEnd: {
                await useCases.accounts.undecryptablePasswords.writeDown()
            },
            PeriodicService(interval: reportInterval) { closedConnections.report() },
            PeriodicService(interval: trimInterval) { trimmer.trimIfWorthwhile() },
        ]
    }
}
