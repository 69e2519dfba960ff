import ArgumentParser
import SelfieAccounts
import SelfieConfiguration
import SelfieOperations
import SelfiePhotos

struct UserQuota: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quota",
        abstract: "Show or set how much a user may store.",
        discussion: """
            It shows what the user has and may have. PHOTOS_PER_USER_MAX and STORAGE_PER_USER_MAX are the limits of \
            users without limits of their own. A user who has more than a new limit keeps all photos, and can't upload \
            more.
            """
    )

    @OptionGroup var argument: UserArgument

    @Option(
        help: "The most photos, at most \(PhotoQuota.maxCountRange.upperBound), or 'usual' for PHOTOS_PER_USER_MAX."
    )
    var photos: QuotaChange?

    @Option(help: "The most bytes of all photos together, or 'usual' for STORAGE_PER_USER_MAX.")
    var storage: QuotaChange?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        for (option, change, range) in [
            ("--photos", photos, PhotoQuota.maxCountRange), ("--storage", storage, PhotoQuota.maxBytesRange),
        ] {
            guard case .limit(let limit) = change, !(0...range.upperBound).contains(limit) else { continue }
            throw ValidationError("\(option) must be a whole number from 0 to \(range.upperBound), or usual.")
        }
    }

    func run() async throws {
        let usual = try ConfigurationSource.ofThisCommand().read { $0.photoQuota() }
        let quota = try await Administration.run { users in
            try await users.quota(of: argument.user, changing: photos, storage, usual: usual)
        }
        try output.print(quota) {
            let rows = [("photos", quota.photos), ("bytes", quota.bytes)].map { name, use in
                [name, "\(use.has)", "\(use.mayHave)", use.isUsual ? "as all users" : "set for this user"]
            }
            return TextTable.text([["", "HAS", "MAY HAVE", ""]] + rows, rightAligned: [1, 2])
        }
    }
}

extension QuotaChange: ExpressibleByArgument {
    public init?(argument: String) {
        if argument == "usual" {
            self = .usual
        } else if let limit = Int(argument) {
            self = .limit(limit)
        } else {
            return nil
        }
    }
}
