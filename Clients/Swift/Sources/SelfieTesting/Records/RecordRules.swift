import Foundation
import SelfieClient

/// The rules of the schema for the data of a record.
struct RecordRules {
    let collection: RecordSchema.Collection
    private static let maxBytes = 64 << 10
    private static let maxLinkCount = 100
    private static let maxElementCount = 20

    /// Whether data has no more bytes than a record may have.
    static func fits(_ data: [String: JSONValue]) -> Bool {
        ((try? JSONCoding.encode(data)) ?? Data()).count <= maxBytes
    }

    /// Requires that data fits the schema.
    ///
    /// - Throws: `ServiceRefusal` that names all fields which do not.
    func check(_ data: [String: JSONValue]) throws(ServiceRefusal) {
        guard Self.fits(data) else { throw .recordTooLarge }
        guard let fields = collection.fields else { return }
        var errors =
            collection.isOpen ? [] : data.keys.filter { fields[$0] == nil }.sorted().map { "\($0) - is unknown," }
        for (name, field) in fields.sorted(by: { $0.key < $1.key }) {
            switch data[name] {
            case nil, .null?: if field.isRequired { errors.append("\(name) - is missing,") }
            case let value?: errors += Self.error(of: value, field.kind, field).map { ["\(name) - \($0),"] } ?? []
            }
        }
        guard errors.isEmpty else { throw .recordInvalid(errors) }
        guard links(of: data).count <= Self.maxLinkCount else {
            let max = Self.maxLinkCount
            throw .recordInvalid(["data - names too many members, records and photos (maximum is \(max)),"])
        }
    }

    /// The rule that a value breaks; nil if it breaks none.
    private static func error(of value: JSONValue, _ kind: RecordSchema.Field.Kind, _ field: RecordSchema.Field)
        -> String?
    {
        if let element = kind.element {
            guard case .array(let values) = value else {
                return "must be an array of ids, for each a \(element.rawValue)"
            }
            guard values.count <= maxElementCount else { return "has too many ids (maximum is \(maxElementCount))" }
            guard values.allSatisfy({ error(of: $0, element, field) == nil }) else {
                return "must be an array of ids, for each a \(element.rawValue)"
            }
            return Set(values).count < values.count ? "has an id twice" : nil
        }
        let fits =
            switch (kind, value) {
            case (.json, _), (.string, .string), (.integer, .integer), (.number, .integer), (.number, .number),
                (.boolean, .bool):
                true
            case (.timestamp, .string(let text)): JSONCoding.date(of: text) != nil
            case (.member, .string(let id)), (.reference, .string(let id)), (.photo, .string(let id)):
                ItemKey.isValid(id)
            default: false
            }
        guard fits else { return "must be \(kind == .integer ? "an" : "a") \(kind.rawValue)" }
        guard kind == .string, let max = field.maxLength, let text = value.text, text.unicodeScalars.count > max else {
            return nil
        }
        return "is too long (maximum is \(max) characters)"
    }

    /// What the fields of data name.
    func links(of data: [String: JSONValue]) -> [RecordLink] {
        (collection.fields ?? [:]).flatMap { name, field -> [RecordLink] in
            switch field.kind {
            case .member, .reference, .photo:
                return [data[name]?.text].compactMap(\.self).map { RecordLink(field: name, id: $0) }
            case .members, .references, .photos:
                return Set(data[name]?.texts ?? []).map { RecordLink(field: name, id: $0) }
            default: return []
            }
        }
    }
}

extension RecordSchema.Field.Kind {
    /// The kind of an array's elements; nil for all others.
    fileprivate var element: Self? {
        switch self {
        case .members: .member
        case .references: .reference
        case .photos: .photo
        default: nil
        }
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
