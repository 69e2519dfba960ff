import HTTPTypes
import JSON
import RecordSchema
import SelfieRecords

/// The refusals of calls about records.
extension ServiceError {
    static let collectionNotFound = ServiceError(
        status: .notFound,
        code: "collection_not_found",
        message: "There is no such collection"
    )
    static let recordNotFound = ServiceError(
        status: .notFound,
        code: "record_not_found",
        message: "There is no such record"
    )
    static let recordForbidden = ServiceError(
        status: .forbidden,
        code: "record_forbidden",
        message: "You may not do this with the record"
    )
    static let recordIDTaken = ServiceError(
        status: .conflict,
        code: "record_id_taken",
        message: "There is a record with this id"
    )
    static let messageIDTaken = ServiceError(
        status: .conflict,
        code: "message_id_taken",
        message: "The id was used for another message to this inbox"
    )
    static let readerFull = ServiceError(
        status: .forbidden,
        code: "reader_full",
        message: "A reader has no room for more of your records"
    )
    static let recordReferredTo = ServiceError(
        status: .conflict,
        code: "record_referred_to",
        message: "Another record refers to the record"
    )
    static let recordVersionDiffers = ServiceError(
        status: .preconditionFailed,
        code: "record_version_differs",
        message: "The record does not match If-Match or If-None-Match"
    )
    static let ifMatchInvalid = ServiceError(
        status: .badRequest,
        code: "if_match_invalid",
        message: #"If-Match - must be a version in quotes, such as "3", or *,"#
    )
    static let recordTooLarge = ServiceError(
        status: .contentTooLarge,
        code: "record_too_large",
        message: "A record's data has at most \(RecordLimits.maxBytes) bytes"
    )
    static let recordIDInvalid = ServiceError(
        status: .badRequest,
        code: "record_id_invalid",
        message: "An id has 1 to \(RecordLimits.maxIDLength) of A-Z a-z 0-9 . _ : ~ @ - and may appear once in a call"
    )
    static let recordExpiryInvalid = ServiceError(
        status: .badRequest,
        code: "expires_at_invalid",
        message: "expires_at - must be in the future,"
    )
    static let recordNotShared = ServiceError(
        status: .badRequest,
        code: "readers_not_allowed",
        message: "Records of this collection have no readers and writers"
    )
    static let readerUnknown = ServiceError(
        status: .badRequest,
        code: "reader_unknown",
        message: "A reader or writer is not a member, or does not accept records from you"
    )
    static let tooManyReaders = ServiceError(
        status: .badRequest,
        code: "too_many_readers",
        message: "A record has at most \(RecordLimits.maxReaderCount) readers and writers"
    )
    static let tooManyRecords = ServiceError(
        status: .badRequest,
        code: "too_many_records",
        message: "A call takes at most \(RecordLimits.maxBatchCount) records"
    )
    static let noRoomForRecords = ServiceError(
        status: .forbidden,
        code: "record_quota_reached",
        message: """
            The owner has no room for more records (maximum is \(RecordLimits.maxCountPerUser), including those deleted in the last \
            30 days)
            """
    )
    static let inboxFull = ServiceError(
        status: .forbidden,
        code: "inbox_full",
        message: "The inbox has no room for more of your records"
    )
    static let indexMissing = ServiceError(
        status: .badRequest,
        code: "index_missing",
        message: "where, order - the collection has no index of this field"
    )
    static let includeInvalid = ServiceError(
        status: .badRequest,
        code: "include_no_reference",
        message: "include - this field is not a reference field"
    )
    /// The message names the fields.
    static let recordInvalid = ServiceError(
        status: .badRequest,
        code: "record_invalid",
        message: "title - must be a string,"
    )

    /// A body that is JSON, but not of a record.
    static func invalidRecordBody(_ message: String) -> ServiceError {
        ServiceError(status: .badRequest, code: "record_malformed", message: message)
    }

    /// Maps a refusal of the records' own.
    init(_ refusal: RecordRefusal) {
        let mapped: ServiceError =
            switch refusal.reason {
            case .noCollection: .collectionNotFound
            case .noMember: .memberNotFound
            case .noRecord: .recordNotFound
            case .forbidden: .recordForbidden
            case .taken: .recordIDTaken
            case .messageIDTaken: .messageIDTaken
            case .referredTo: .recordReferredTo
            case .otherVersion: .recordVersionDiffers
            case .invalid(let errors) where errors.contains { $0.reason == .tooManyBytes }: .recordTooLarge
            case .invalid(let errors): .recordInvalid.saying(Self.message(of: errors))
            case .invalidID: .recordIDInvalid
            case .idNotInteger:
                .recordIDInvalid.saying(
                    "An id in this collection is a whole number from 1 to \(RecordID.maxInteger). Leave it out to get the next one"
                )
            case .invalidExpiry: .recordExpiryInvalid
            case .notShared: .recordNotShared
            case .unknownReader: .readerUnknown
            case .tooManyReaders: .tooManyReaders
            case .noRoom: .noRoomForRecords
            case .noBytes(let max):
                .noRoomForRecords.saying("The owner's records have no room for more data (maximum is \(max) bytes)")
            case .inboxFull: .inboxFull
            case .readerFull: .readerFull
            case .noIndex(let field): .indexMissing.saying("where, order - the collection has no index of \(field)")
            case .invalidCondition(let error):
                Endpoint.Parameter.where.invalid.saying("where: \(error.message)")
            case .noReference(let field): .includeInvalid.saying("include - \(field) is not a reference field")
            case .noSuchPosition: Endpoint.Parameter.recordAfter.invalid
            }
        self = refusal.position.map { mapped.saying("record \($0): \(mapped.message)") } ?? mapped
    }

    /// The most errors in a message.
    private static let maxErrorCount = 20

    private static func message(of errors: [RecordValidationError]) -> String {
        let rest = errors.count - maxErrorCount
        return errors.prefix(maxErrorCount).map(\.message).joined(separator: " ")
            + (rest > 0 ? " and \(rest) more" : "")
    }
}

extension RecordValidationError {
    /// In the contract's form.
    fileprivate var message: String {
        let rule =
            switch reason {
            case .notAnObject: "must be an object"
            case .tooManyBytes: "is too long (maximum is \(RecordLimits.maxBytes) bytes)"
            case .tooDeep: "is too deep (maximum is \(RecordLimits.maxDepth) levels)"
            case .unstorable(.hasNull): "has U+0000"
            case .unstorable(.tooManyMarks): "is invalid"
            case .unstorable(.numberOutOfRange): "has a number beyond 64 bits"
            case .unknown: "is unknown"
            case .missing: "is missing"
            case .notA(.array(let element)): "must be an array of ids, for each \(element.article) \(element.word)"
            case .notA(let type): "must be \(type.article) \(type.word)"
            case .tooManyElements: "has too many ids (maximum is \(FieldType.maxElementCount))"
            case .repeatedElement: "has an id twice"
            case .tooManyLinks:
                "names too many members, records and photos (maximum is \(RecordLimits.maxLinkCount))"
            case .notOrdered: "can't be compared so"
            case .tooLong(let max): "is too long (maximum is \(max) characters)"
            case .parentFull: "refers to a record that has no room for more data"
            case .notFound: "does not exist, or you may not use it"
            }
        return "\(field ?? "data") - \(rule),"
    }
}

extension FieldType {
    fileprivate var article: String { self == .integer ? "an" : "a" }
}
