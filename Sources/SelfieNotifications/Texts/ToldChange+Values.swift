import JSON
import OrderedCollections
import SelfieRecords

extension ToldChange {
    /// What placeholders of a text stand for.
    func values(_ sendsContents: Bool) -> PushText.Values {
        var values = PushText.Values(collection: collection)
        guard sendsContents, let data, case .object(let members)? = try? JSONValue.parse(stored: data.utf8) else {
            return values
        }
        values.ownerFirstName = ownerFirstName
        for (name, value) in members {
            switch value {
            case .string(let text): values.fields[name] = text
            case .number(let digits): values.fields[name] = digits
            case .boolean(let flag): values.fields[name] = flag ? "true" : "false"
            case .null, .array, .object: continue
            }
        }
        return values
    }
}
