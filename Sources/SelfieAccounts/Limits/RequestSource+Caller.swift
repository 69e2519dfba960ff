import Budgets

extension RequestSource {
    /// The caller that waits for a hash: the account, in the queue of the request's network.
    func caller(_ account: AccountName) -> FairSemaphore.Caller {
        let member =
            switch account {
            case .user(let id): "user \(id)"
            case .unknown(let email): "email \(normalized(email))"
            }
        return FairSemaphore.Caller(group: address.site, member: member)
    }
}
