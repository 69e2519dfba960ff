import HTTPConnection
import SelfieCore
import ServiceLifecycle

extension SelfieService {
    /// The work beside requests.
    func backgroundServices(_ useCases: UseCases, _ connections: ConnectionPermits) -> [any Service] {
        let trimmer = MemoryTrimmer()
        let closedConnections = ClosedConnectionReport(connections: connections, logger: logger)
        return [
            PeriodicService(interval: sweepInterval) {
                await useCases.sweeper.sweepOrWarn()
                return .again
            },
            PeriodicService(interval: sweepInterval) {
                await useCases.housekeeper.finishDeletions()
                return .again
            },
            PeriodicService(interval: tidyInterval) {
                await useCases.housekeeper.tidy()
                return .again
            },
            PeriodicService(interval: expiryInterval) {
                await useCases.housekeeper.removeExpiredRecords()
                return .again
            },
            PeriodicService(interval: sessionUseInterval) {
                await useCases.sessionUses.writeDown(pausing: .milliseconds(100))
                return .again
            } atEnd: {
                await useCases.sessionUses.writeDown()
            },
            PeriodicService(interval: undecryptablePasswordInterval) {
                await useCases.undecryptablePasswords.writeDown()
                return .again
            } atEnd: {
                await useCases.undecryptablePasswords.writeDown()
            },
            PeriodicService(interval: reportInterval) {
                closedConnections.report()
                return .again
            },
            PeriodicService(interval: trimInterval) {
                trimmer.trimIfWorthwhile()
                return .again
            },
        ]
    }
}
