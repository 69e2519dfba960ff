import Budgets
import Hummingbird
import JSON
import SelfieRecords

/// The answer to a change: the ids, or what else is asked for.
struct DreamFactoryAnswer {
    let fields: DreamFactoryCall.Fields
    let isOne: Bool
    private let none: DreamFactoryRelated

    /// - Throws: `ServiceError` for what a change can't answer with.
    init(_ call: DreamFactoryCall, isOne: Bool) throws(ServiceError) {
        try call.requireNoRelations()
        (fields, self.isOne, none) = (try call.fields(usually: .some([])), isOne, try DreamFactoryRelated([]))
    }

    func response(
        _ records: [StoredRecord],
        of table: DreamFactoryTable,
        within memory: AnswerMemory
    ) throws(TooBusy) -> Response {
        try response(records, within: memory) { none.write($1, fields, of: table, to: &$0) }
    }

    func response(
        ids: [String],
        of table: DreamFactoryTable,
        within memory: AnswerMemory
    ) throws(TooBusy) -> Response {
        try response(ids, within: memory) { $0.write([DreamFactoryTable.id: table.shownID($1)]) }
    }

    private func response<Element>(
        _ elements: [Element],
        within memory: AnswerMemory,
        write: (inout JSONWriter, Element) -> Void
    ) throws(TooBusy) -> Response {
        var json = JSONWriter()
        if isOne, let element = elements.first {
            write(&json, element)
        } else {
            json.object { json in json.nested("record") { $0.array(elements, each: write) } }
        }
        return try Response(json, within: memory)
    }
}

/// What an answer says of its list.
struct DreamFactoryListMeta {
    private let count: Int?
    private let next: Int?
    private let isLimited: Bool

    init(of list: DreamFactoryRecords.List, count: Int, offset: Int) {
        let hasMore = list.hasMore || count < list.records.count
        let end = offset + count
        self.count = list.count
        next = hasMore && count > 0 && end <= RecordQuery.maxLookedAtCount ? end : nil
        isLimited = hasMore && next == nil
    }

    var isNeeded: Bool { count != nil || next != nil || isLimited }

    func write(to json: inout JSONWriter) {
        json.object { json in
            if let count { json.member("count", count) }
            if let next { json.member("next", next) }
            if isLimited { json.member("limited", true) }
        }
    }
}
