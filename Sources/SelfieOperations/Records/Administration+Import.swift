import Encodings
import RecordSchema
import SelfieRecords

extension Administration {
    /// What an import has done.
    package struct ImportReport: Sendable {
        /// The lines of the file that are records.
        package var recordCount = 0
        /// How many of them an earlier import had added.
        package var earlierCount = 0
        /// What is wrong with the file, a line for each.
        package var errors: [String] = []
        /// Whether all lines were right, and those without errors were added.
        package var isChecked = false
        /// How many more there are.
        package var moreErrorCount = 0
        /// How many records refer to records that are not there.
        package var danglingCount = 0

        fileprivate mutating func add(_ error: String) {
            if errors.count < Self.maxErrorCount { errors.append(error) } else { moreErrorCount += 1 }
        }

        private static let maxErrorCount = 20
    }

    /// Imports the records of a file, a JSON object in each line.
    ///
    /// All lines are checked first. An import that was interrupted goes on where it was.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - collection: The collection of lines that name none; nil where each must.
    ///   - isDryRun: Whether the file is only checked.
    ///   - onProgress: Called after each batch.
    /// - Returns: What was done.
    /// - Throws: ``RecordFileError``, ``ImportedElsewhere``, `RecordsBusy`, `PostgresError`.
    package func importRecords(
        from path: String,
        into collection: String?,
        isDryRun: Bool,
        onProgress: (TaskProgress) -> Void
    ) async throws -> ImportReport {
        let records = ImportRecords(postgres: postgres)
        var report = ImportReport()
        // Which file it is, and how far an import of it has come, is known only at its end.
        let (digest, lineCount) = try await Self.read(path)
        let added = try await records.lineCount(of: digest)
        var seen = ImportRecords.SeenRecords()
        _ = try await Self.forEachBatch(of: path, collection, from: 0, report: &report) { lines, report in
            report.recordCount += lines.count
            let isAdded = lines.prefix { $0.number <= added }
            report.earlierCount += isAdded.count
            for (part, isAdded) in [(isAdded, true), (lines.dropFirst(isAdded.count), false)] where !part.isEmpty {
                for refusal in try await records.check(Array(part), isAdded: isAdded, seen: &seen) {
                    report.add(refusal.text)
                }
            }
            onProgress(TaskProgress(task: "checking", done: lines.last?.number ?? 0, total: lineCount))
        }
        report.isChecked = report.errors.isEmpty
        guard report.isChecked, !isDryRun else { return report }
        var ignored = ImportReport()
        var done = added
        let again = try await Self.forEachBatch(of: path, collection, from: added, report: &ignored) { lines, _ in
            let refusals = try await records.add(lines, of: digest, after: done)
            for refusal in refusals { report.add(refusal.text) }
            report.recordCount -= refusals.count
            done = lines.last?.number ?? done
            onProgress(TaskProgress(task: "importing", done: done, total: lineCount))
        }
        guard again == digest else { throw RecordFileError.changed(path) }
        report.danglingCount = try await records.finish(digest)
        return report
    }

    private static func read(_ path: String) async throws -> (digest: String, lineCount: Int) {
        var file = try await LineFile(path, maxLineBytes: 0)
        try await file.skipToEnd()
        return (file.digestText, file.lineCount)
    }

    /// Reads a file in batches.
    ///
    /// - Returns: The digest of the file.
    private static func forEachBatch(
        of path: String,
        _ collection: String?,
        from lineCount: Int,
        report: inout ImportReport,
        _ body: ([ImportRecords.Line], inout ImportReport) async throws -> Void
    ) async throws -> String {
        var file = try await LineFile(path, maxLineBytes: ImportedRecord.maxLineBytes)
        var lines: [ImportRecords.Line] = []
        do {
            while let line = try await file.next() {
                guard file.lineCount > lineCount else { continue }
                do {
                    let record = try ImportedRecord(line, collection: collection)
                    lines.append(ImportRecords.Line(number: file.lineCount, record: record))
                } catch {
                    report.add("line \(file.lineCount): \(error.reason)")
                }
                guard lines.count == ImportRecords.batchSize else { continue }
                try await body(lines, &report)
                lines = []
            }
            if !lines.isEmpty { try await body(lines, &report) }
        } catch let error as LineFile.TooLong {
            report.add("line \(error.line): has more than \(ImportedRecord.maxLineBytes) bytes")
        }
        return file.digestText
    }
}

extension ImportRecords.Refusal {
    /// Such as `line 7: there is no collection bugs`.
    fileprivate var text: String {
        let what =
            switch reason {
            case .noCollection(let name): "there is no collection \(name)"
            case .noMember(let name): "there is no user \(name)"
            case .taken(let id): "there is a record \(id)"
            case .repeated(let id): "another line has the record \(id)"
            case .recipient: "only records of an inbox have a recipient, and each has one"
            case .idNotInteger(let id): "\(id) is no whole number, as the ids of this collection"
            case .notShared: "only records of an acl collection have readers and writers"
            case .invalid(let errors): errors.map(\.text).joined(separator: ", ")
            }
        return "line \(line): \(what)"
    }
}

extension RecordValidationError {
    /// Such as `title is missing`.
    fileprivate var text: String {
        let rule =
            switch reason {
            case .notAnObject: "must be an object"
            case .tooManyBytes: "has more than \(RecordLimits.maxBytes) bytes"
            case .tooDeep: "has more than \(RecordLimits.maxDepth) levels"
            case .unstorable: "has a value that can't be stored"
            case .unknown: "is unknown"
            case .missing: "is missing"
            case .notA(let type): "must be of the type \(type.word)"
            case .notOrdered: "has no order"
            case .tooManyElements: "has more than \(FieldType.maxElementCount) ids"
            case .repeatedElement: "has an id twice"
            case .tooManyLinks: "names more than \(RecordLimits.maxLinkCount) members, records and photos"
            case .tooLong(let max): "has more than \(max) characters"
            case .parentFull: "refers to a record that has no room"
            case .notFound: "does not exist"
            }
        return "\(field ?? "data") \(rule)"
    }
}
