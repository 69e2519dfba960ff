import Budgets

extension RequestSource {
    /// The caller that waits for a hash: the account, in the queue of the request's network.
    func caller(_ account: AccountName) -> FairSemaphore.Caller {
        FairSemaphore.Caller(group: address.site, member: account.text)
    }
}
