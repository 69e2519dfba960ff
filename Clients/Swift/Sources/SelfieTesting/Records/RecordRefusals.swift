/// The refusals of calls about records.
extension ServiceRefusal {
    static let collectionNotFound = ServiceRefusal(
        status: 404,
        code: "collection_not_found",
        message: "There is no such collection"
    )
    static let recordNotFound = ServiceRefusal(
        status: 404,
        code: "record_not_found",
        message: "There is no such record"
    )
    static let recordForbidden = ServiceRefusal(
        status: 403,
        code: "record_forbidden",
        message: "You may not do this with the record"
    )
    static let recordVersionDiffers = ServiceRefusal(
        status: 412,
        code: "record_version_differs",
        message: "The record does not match If-Match or If-None-Match"
    )
    static let recordIDTaken = ServiceRefusal(
        status: 409,
        code: "record_id_taken",
        message: "There is a record with this id"
    )
    static let messageIDTaken = ServiceRefusal(
        status: 409,
        code: "message_id_taken",
        message: "The id was used for another message to this inbox"
    )
    static let recordReferredTo = ServiceRefusal(
        status: 409,
        code: "record_referred_to",
        message: "Another record refers to the record"
    )
    static let recordIDInvalid = ServiceRefusal(
        status: 400,
        code: "record_id_invalid",
        message: "An id has 1 to 255 of A-Z a-z 0-9 . _ : ~ @ - and may appear once in a call"
    )
    static let ifMatchInvalid = ServiceRefusal(
        status: 400,
        code: "if_match_invalid",
        message: #"If-Match - must be a version in quotes, such as "3", or *,"#
    )
    static let recordTooLarge = ServiceRefusal(
        status: 413,
        code: "record_too_large",
        message: "A record's data has at most 65536 bytes"
    )
    static let expiryInvalid = ServiceRefusal(
        status: 400,
        code: "expires_at_invalid",
        message: "expires_at - must be in the future,"
    )
    static let readersNotAllowed = ServiceRefusal(
        status: 400,
        code: "readers_not_allowed",
        message: "Records of this collection have no readers and writers"
    )
    static let readerUnknown = ServiceRefusal(
        status: 400,
        code: "reader_unknown",
        message: "A reader or writer is not a member, or does not accept records from you"
    )

    static let tooManyReaders = ServiceRefusal(
        status: 400,
        code: "too_many_readers",
        message: "A record has at most \(RecordOperation.maxReaderCount) readers and writers"
    )

    /// The data of a record breaks rules of the schema.
    static func recordInvalid(_ errors: [String]) -> ServiceRefusal {
        let rest = errors.count - 20
        let message = errors.prefix(20).joined(separator: " ") + (rest > 0 ? " and \(rest) more" : "")
        return ServiceRefusal(status: 400, code: "record_invalid", message: message)
    }

    /// The same about a record in an array.
    func ofRecord(at position: Int?) -> ServiceRefusal {
        guard let position else { return self }
        return ServiceRefusal(status: status, code: code, message: "record \(position): \(message)")
    }

    /// A body that is no record.
    static func recordMalformed(_ name: String, _ rule: String) -> ServiceRefusal {
        ServiceRefusal(status: 400, code: "record_malformed", message: "\(name) - \(rule),")
    }

    /// An index that a list needs is missing.
    static func indexMissing(_ field: String) -> ServiceRefusal {
        ServiceRefusal(
            status: 400,
            code: "index_missing",
            message: "where, order - the collection has no index of \(field)"
        )
    }
}
