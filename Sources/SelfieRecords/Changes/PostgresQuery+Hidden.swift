import Postgres

extension PostgresQuery.StringInterpolation {
    /// Binds values whose count the planner does not see.
    ///
    /// It would plan a statement for each count anew, because it takes the plan for any count to be dearer. For a long
    /// statement that takes longer than its execution: 2 ms.
    mutating func appendInterpolation<Value: PostgresArrayElement>(hidden values: [Value]) {
        appendLiteral("(SELECT ")
        appendInterpolation(values)
        appendLiteral(")")
    }
}
