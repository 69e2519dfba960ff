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

    /// Over at once when a store is silent; long when it is at work, or a busy machine could not use it.
    package static let short: S3Deadlines = {
        var deadlines = S3Deadlines()
        deadlines.silence = .milliseconds(500)
        deadlines.retryWindow = .milliseconds(100)
        deadlines.giveUp = .milliseconds(600)
        deadlines.put = .seconds(60)
        deadlines.call = .seconds(60)
        return deadlines
    }()
}
