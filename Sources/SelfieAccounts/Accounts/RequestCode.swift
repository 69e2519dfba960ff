/// Sends a code to the address of an account, for a client that has no token.
package struct RequestCode: Sendable {
    let find: FindAccount
    let codes: CodeStore
    let limiter: RateLimiter
    /// Counts codes by account: also where there are no other limits, since somebody gets them.
    let accountLimiter: RateLimiter
    let notifier: ChangeNotifier

    /// Sends a code, if there is such an account.
    ///
    /// An address without an account costs the same statements and limits, and nothing is sent.
    ///
    /// - Parameters:
    ///   - purpose: What the code is for: signing in, or a new password.
    ///   - email: The address, as the client sent it.
    ///   - source: Where the request came from.
    /// - Throws: `RateLimitExceeded`, `PostgresError`.
    package func callAsFunction(_ purpose: CodePurpose, email: String, from source: RequestSource) async throws {
        // The work for a mail would slow the client's next request down, and so tell which address has an account.
        let delay = Duration.milliseconds(Int.random(in: Self.delay))
        let ofAddress = try await limiter.count(LimitedAction.code(from: source.address), ofUser: nil, from: source)
        try await limiter.givingBack(
            ofAddress,
            onFailureOf: {
                let account = try await find(email: email, for: purpose, from: source)
                let counted = try await accountLimiter.count(
                    [account.codeAction],
                    ofUser: account.user?.id,
                    from: source
                )
                try await accountLimiter.givingBack(
                    counted,
                    onFailureOf: {
                        try await codes.send(purpose, to: account.receiver, after: delay)
                    }
                )
            }
        )
        Task { [notifier] in
            try? await Task.sleep(for: delay)
            notifier.notify([.deliveries])
        }
    }

    /// How long a code waits before it is sent, in milliseconds.
    private static let delay = 100...400

}

/// Finds the account that a client means by an address.
struct FindAccount: Sendable {
    let users: UserStore
    let emails: EmailStore

    /// - Parameters:
    ///   - email: The address, as the client sent it.
    ///   - purpose: What the code is for. With `reset`, it also finds an account that had the address until a week ago.
    ///   - source: Where the request came from.
    /// - Returns: The account, or the address alone.
    /// - Throws: `PostgresError`.
    func callAsFunction(
        email: String,
        for purpose: CodePurpose,
        from source: RequestSource
    ) async throws -> FoundAccount {
        let network = source.address.network
        let unknown = AccountName.unknown(email: email)
        let found = try await users.find(email: email, from: network)
        let present = FoundAccount(
            user: found?.user,
            email: found?.user.email ?? email,
            otherwise: unknown,
            isKnownNetwork: found?.isKnownNetwork ?? false
        )
        // Looked up for each address, so that the time tells nothing.
        guard purpose == .reset, !email.utf8.contains(0), let former = try await emails.formerOwner(of: email),
            present.user?.isEmailProven != true, let user = try await users.find(id: former.userID)
        else { return present }
        // A thief who has changed the address knows its networks. So the former one is a stranger everywhere.
        return FoundAccount(
            user: user,
            email: former.email,
            otherwise: unknown,
            isKnownNetwork: false,
            formerEmail: former.email
        )
    }
}

extension FoundAccount {
    fileprivate var receiver: CodeReceiver {
        CodeReceiver(account: name, userID: user?.id, email: formerEmail)
    }

    /// Codes for networks that the account knows are counted apart, so that strangers can't keep its user from one.
    fileprivate var codeAction: LimitedAction {
        isKnownNetwork ? .codeFromKnownNetwork(to: email) : .code(to: email)
    }
}
