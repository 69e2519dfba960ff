import Encodings
import RecordSchema
package import SelfieRecords

extension SchemaPreview {
    /// The plan for people, a line for each change.
    ///
    /// Changes that lose data, show records to more people or can't be made are marked.
    package var text: String {
        zip(plan.changes, effects).map { change, effect in
            var (marks, counts): (String, [String]) = ("", [])
            if change.isRefused { marks += "refused: " }
            if change.losesData, !change.isRefused { marks += "loses data: " }
            if let count = effect.removedCount { counts.append(counted(count, "record")) }
            if let shown = effect.shown {
                if shown.recordCount > 0 { marks += "shows more: " }
                let whom =
                    switch (shown.memberCount, change.widening?.readers) {
                    case (1, _): "to 1 more person"
                    case (let count?, _): "to \(count) more people"
                    case (nil, .newUsers): "to each new user"
                    case (nil, _): "with their photos to those who read them"
                    }
                counts.append("\(counted(shown.recordCount, "record")) \(whom)")
            }
            let suffix = counts.isEmpty ? "" : " (\(counts.joined(separator: "; ")))"
            return "  \(marks)\(change.description)\(suffix)\n"
        }.joined()
    }

    /// What its operator should know beside the plan, a line for each collection; empty for nothing.
    package var misfitText: String { Self.text(ofMisfits: misfits) }

    fileprivate static func text(ofMisfits misfits: [(collection: String, count: Int)]) -> String {
        misfits.map { collection, count in
            let records = count == 1 ? "1 record of \(collection) does" : "\(count) records of \(collection) do"
            return "\(records) not keep to the new rules. They stay until somebody changes them.\n"
        }.joined()
    }
}

extension ApplySchema.Report {
    /// What its operator should know beside the plan, a line for each collection; empty for nothing.
    package var misfitText: String { SchemaPreview.text(ofMisfits: misfits) }
}
