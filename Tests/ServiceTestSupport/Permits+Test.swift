package import Budgets

extension Permits where Holder == Int {
    /// Bytes of memory that users share.
    package static func ofBytes(_ total: Int, perUser: Int = .max) -> Permits {
        Permits("MEMORY", per: "USER", PermitLimits(total: total, perHolder: perUser))
    }
}
