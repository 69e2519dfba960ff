import Testing

@testable import S3

/// How many objects the next call deletes.
struct DeletionBatchTests {
    @Test(
        "It is what the store deletes within two seconds, twice as many at most, and 10 to 1,000",
        arguments: [
            (100, 100, 200), (100, 1_000, 200), (100, 1_600, 125), (100, 2_700, 74), (100, 20_000, 10),
            (100, 200_000, 10), (50, 1_000, 100), (50, 1_500, 100), (50, 2_700, 37), (1, 15_000, 10),
        ]
    )
    func next(deleted: Int, milliseconds: Int, count: Int) {
        var batch = DeletionBatch()
        batch.note(count: deleted, took: .milliseconds(milliseconds), succeeded: true)
        #expect(batch.count == count)
    }

    @Test("It grows to a thousand, and comes back")
    func growth() {
        var batch = DeletionBatch()
        for _ in 0..<9 { batch.note(count: batch.count, took: .zero, succeeded: true) }
        #expect(batch.count == 1_000)
        batch.note(count: 1_000, took: .seconds(27), succeeded: true)
        #expect(batch.count == 74)
    }

    @Test("A call that failed early changes nothing; one that took too long does", arguments: [(1, 100), (15, 13)])
    func failure(seconds: Int, count: Int) {
        var batch = DeletionBatch()
        batch.note(count: 100, took: .seconds(seconds), succeeded: false)
        #expect(batch.count == count)
    }
}
