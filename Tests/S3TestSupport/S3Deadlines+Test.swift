package import S3

extension S3Deadlines {
    /// In the order of the real ones, and longer than any machine is busy.
    package static let patient: S3Deadlines = {
        var deadlines = S3Deadlines()
        deadlines.connect = .seconds(100)
        deadlines.idle = .seconds(600)
        deadlines.silence = .seconds(100)
        deadlines.retryWindow = .seconds(90)
        deadlines.giveUp = .seconds(110)
        deadlines.put = .seconds(120)
        deadlines.putInParts = .seconds(120)
        deadlines.call = .seconds(110)
        deadlines.list = .seconds(110)
        return deadlines
    }()
}
