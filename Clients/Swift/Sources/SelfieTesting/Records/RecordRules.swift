import Foundation
import SelfieClient

/// The rules of the schema for the data of a record.
struct RecordRules {
    let state: ServiceState
    let collection: RecordSchema.Collection
    /// Who writes the record.
    let author: String
    /// The record's data before.
    let old: [String: JSONValue]
    private static let maxBytes = 64 << 10

    /// Requires that data is not too large.
    ///
    /// - Throws: `ServiceRefusal`.
    static func checkSize(of data: [String: JSONValue]) throws(ServiceRefusal) {
        guard ((try? JSONCoding.encode(data)) ?? Data()).count <= maxBytes else { throw .recordTooLarge }
    }

    /// Requires that data fits the schema.
    ///
    /// - Throws: `ServiceRefusal` that names all fields which do not.
    func check(_ data: [String: JSONValue]) throws(ServiceRefusal) {
        try Self.checkSize(of: data)
        guard let fields = collection.fields else { return }
        var errors = collection.isOpen ? [] : data.keys.filter { fields[$0] == nil }.map { "\($0) - is unknown," }
        for (name, field) in fields {
            switch data[name] {
            case nil, .null?: if field.isRequired { errors.append("\(name) - is missing,") }
            case let value?: errors += error(of: value, field, name).map { ["\(name) - \($0),"] } ?? []
            }
        }
        guard errors.isEmpty else {
            throw ServiceRefusal(status: 400, code: "record_invalid", message: errors.sorted().joined(separator: " "))
        }
    }

    private func error(of value: JSONValue, _ field: RecordSchema.Field, _ name: String) -> String? {
        switch field.kind {
        case .json: return nil
        case .string:
            guard let text = value.text else { return "must be a string" }
            guard let max = field.maxLength, text.count > max else { return nil }
            return "is too long (maximum is \(max) characters)"
        case .integer:
            if case .integer = value { return nil }
            return "must be an integer"
        case .number:
            switch value {
            case .integer, .number: return nil
            default: return "must be a number"
            }
        case .boolean:
            if case .bool = value { return nil }
            return "must be a boolean"
        case .timestamp:
            return value.text.flatMap(JSONCoding.date) == nil ? "must be a timestamp" : nil
        case .member, .reference, .photo:
            guard let id = value.text else { return "must be a \(field.kind.rawValue)" }
            return linkError([id], field, known: [old[name]?.text].compactMap(\.self))
        case .members, .references, .photos:
            guard let ids = value.texts else { return "must be an array of ids" }
            return linkError(ids, field, known: old[name]?.texts ?? [])
        }
    }

    private func linkError(_ ids: [String], _ field: RecordSchema.Field, known: [String]) -> String? {
        let exists = ids.allSatisfy { id in
            if known.contains(id) { return true }
            switch field.kind {
            case .member, .members: return state.accounts[id] != nil
            case .photo, .photos: return state.photos[id]?.ownerID == author
            default: return state.target(field.target, id, of: author) != nil
            }
        }
        return exists ? nil : "does not exist, or you may not use it"
    }
}

extension ServiceState {
    /// The record that a reference means, if the user may see it.
    func target(_ collection: String?, _ id: String, of userID: String) -> StoredRecord? {
        guard let collection, let access = schema.collections[collection]?.access else { return nil }
        let key = ItemKey(collection: collection, inbox: access == .inbox ? userID : nil, id: id)
        return grants.rights(of: userID, to: key).contains(.read) ? records[key] : nil
    }

    /// The ids of the photos in a record's fields, without those that were deleted.
    func photoIDs(of key: ItemKey) -> Set<String> {
        records[key].map { record in Set(photoFields(of: record).flatMap(\.ids)) } ?? []
    }

    /// The photos of a record by field.
    func photoFields(of record: StoredRecord) -> [(name: String, ids: [String], isArray: Bool)] {
        (schema.collections[record.key.collection]?.fields ?? [:]).compactMap { name, field in
            switch field.kind {
            case .photo: (name, [record.data[name]?.text].compactMap(\.self), false)
            case .photos: (name, record.data[name]?.texts ?? [], true)
            default: nil
            }
        }
        .map { ($0.0, $0.1.filter { photos[$0] != nil }, $0.2) }
    }
}
