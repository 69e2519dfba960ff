import Budgets

extension RequestSource {
    /// Who waits for a hash: the account, in the line of the request's network.
    func claimant(_ account: AccountName) -> FairLine.Claimant {
        let member =
            switch account {
            case .user(let id): "user \(id)"
            case .unknown(let email): "email \(normalized(email))"
            }
        return FairLine.Claimant(group: address.site, member: member)
    }
}
