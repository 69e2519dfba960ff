import SelfieConfiguration
import Testing

@Suite("The lock of migrations")
struct MigrationLockTests {
    @Test("All versions lock the same number")
    func number() {
        #expect(MigrationLock.number == 126_879_447_542_117)
    }
}
