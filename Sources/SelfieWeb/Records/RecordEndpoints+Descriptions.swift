import Encodings
import HTTPTypes
import JSON
import RecordSchema
import SelfieAccounts
import SelfieRecords

extension RecordEndpoints {
    private typealias Body = Endpoint.JSONBodyDescription

    /// The calls below `/api/records`.
    static let common = calls(
        below: "/api/records/:collection",
        location: [.collection],
        suffix: "",
        note: ""
    )

    /// The same below a member, for the member's inbox.
    static let inbox = calls(
        below: "/api/members/:member/records/:collection",
        location: [.memberID, .collection],
        suffix: "InInbox",
        note: """
            The collection's access is `inbox`. Other members may only send records, and delete the ones they sent. \
            Repeating a `PUT` creates no second record, and gets the same answer. Other data with a used id is refused. No \
            answer shows what the recipient did. Deleting from your own inbox does not count against the limit.
            """
    )

    private static let inheritedReaders = """
        If the collection has a `parent`, a new record without readers gets the readers of its parent record.
        """

    private static func calls(
        below path: String,
        location: [Endpoint.Parameter],
        suffix: String,
        note: String
    ) -> [HandledEndpoint<Self>] {
        let record = location + [.recordID]
        let place404: [ServiceError] = [.collectionNotFound] + (suffix.isEmpty ? [] : [.memberNotFound])
        let one404 = place404 + [.recordNotFound, .recordForbidden]
        let inWords = suffix.isEmpty ? "" : " in an inbox"
        func details(_ text: String) -> String { "\(text)\n\n\(note)" }
        return [
            HandledEndpoint(
                "listRecords\(suffix)",
                .records,
                .get,
                path,
                .token(handleList),
                "List the records\(inWords)",
                details: details("The records that the user may read, page by page. A page ends at about 1 MiB."),
                readsFromStandby: true,
                takes: location + [
                    .where, .recordIDs, .recordOrder, .recordAfter, .recordLimit, .include, .countsRecords,
                ],
                answers: [.ok("A page.", RecordJSON.page)],
                refuses: place404 + [.indexMissing, .includeInvalid, .recordIDInvalid]
            ),
            HandledEndpoint(
                "createRecords\(suffix)",
                .records,
                .post,
                path,
                .token(handleCreate),
                "Create one record or many\(inWords)",
                details: details("Either all records of an array are stored, or none. \(inheritedReaders)"),
                limitedBy: [.recordWritesPerUser, .inboxSendsPerUser],
                takes: location,
                sends: Body(
                    "A record, or an array of up to \(RecordLimits.maxBatchCount).",
                    schema: ["anyOf": [RecordJSON.new, RecordJSON.many(RecordJSON.new)]],
                    example: RecordJSON.newExample
                ),
                answers: [.ok("The record, or an array of records.", RecordJSON.oneOrMany, headers: [.tagOfOneRecord])],
                refuses: place404 + [
                    .recordIDTaken, .recordForbidden, .tooManyRecords, .noRoomForRecords, .inboxFull, .readerFull,
                ] + contents
            ),
            HandledEndpoint(
                "changeRecords\(suffix)",
                .records,
                .patch,
                path,
                .token(handlePatchMany),
                "Change many records\(inWords)",
                details: details(
                    "Each element has an `id`, and is a merge patch (RFC 7396) of `data`. All are changed, or none."
                ),
                limitedBy: [.recordWritesPerUser, .inboxSendsPerUser],
                takes: location,
                sends: Body(
                    "Up to \(RecordLimits.maxBatchCount) changes.",
                    schema: RecordJSON.many(RecordJSON.change(isOfMany: true)),
                    example: [["id": "house-1", "data": ["comment": "sold"]]]
                ),
                answers: [.ok("The records.", RecordJSON.array)],
                refuses: one404 + [.recordVersionDiffers, .tooManyRecords, .noRoomForRecords, .readerFull] + contents
            ),
            HandledEndpoint(
                "deleteRecords\(suffix)",
                .records,
                .delete,
                path,
                .token(handleDeleteMany),
                "Delete many records\(inWords)",
                details: details("All are deleted, or none."),
                limitedBy: [.recordWritesPerUser],
                takes: location + [.deletedIDs],
                answers: [.ok("How many were deleted.", RecordJSON.deleted)],
                refuses: one404 + [.recordIDInvalid, .recordReferredTo, .parametersMissing]
            ),
            HandledEndpoint(
                "getRecord\(suffix)",
                .records,
                .get,
                "\(path)/:id",
                .token(handleGet),
                "Read a record\(inWords)",
                details: note,
                readsFromStandby: true,
                dependsOn: [.ifNoneMatch],
                takes: record + [.include],
                answers: [
                    .ok(
                        "The record, and with `include` what it refers to.",
                        RecordJSON.oneIncluding,
                        headers: [.recordTag]
                    ),
                    .notModified,
                ],
                refuses: one404 + [.recordIDInvalid, .includeInvalid]
            ),
            HandledEndpoint(
                "putRecord\(suffix)",
                .records,
                .put,
                "\(path)/:id",
                .token(handlePut),
                "Create or replace a record\(inWords)",
                details: details(
                    "`readers`, `writers` and `expires_at` stay unchanged if they are left out. \(inheritedReaders)"
                ),
                limitedBy: [.recordWritesPerUser, .inboxSendsPerUser],
                dependsOn: [.ifMatchVersion, .ifNoRecord],
                takes: record,
                sends: Body("The record.", schema: RecordJSON.put(), example: RecordJSON.newExample),
                answers: [.ok("The record.", RecordJSON.one, headers: [.recordTag])],
                refuses: one404 + [.recordVersionDiffers, .ifMatchInvalid, .noRoomForRecords, .inboxFull, .readerFull]
                    + (suffix.isEmpty ? [] : [.messageIDTaken]) + contents
            ),
            HandledEndpoint(
                "patchRecord\(suffix)",
                .records,
                .patch,
                "\(path)/:id",
                .token(handlePatch),
                "Change a record\(inWords)",
                details: details("A merge patch (RFC 7396) of `data`. What is left out stays unchanged."),
                limitedBy: [.recordWritesPerUser, .inboxSendsPerUser],
                dependsOn: [.ifMatchVersion],
                takes: record,
                sends: Body(
                    "The change.",
                    schema: RecordJSON.change(isOfMany: false),
                    example: ["data": ["comment": "sold"]]
                ),
                answers: [.ok("The record.", RecordJSON.one, headers: [.recordTag])],
                refuses: one404 + [.recordVersionDiffers, .ifMatchInvalid, .noRoomForRecords, .readerFull] + contents
            ),
            HandledEndpoint(
                "deleteRecord\(suffix)",
                .records,
                .delete,
                "\(path)/:id",
                .token(handleDelete),
                "Delete a record\(inWords)",
                details: details(
                    "In an `acl` collection, a reader who may not delete the record leaves it. Others keep it."
                ),
                limitedBy: [.recordWritesPerUser],
                dependsOn: [.ifMatchVersion],
                takes: record,
                answers: [.ok("How many were deleted.", RecordJSON.deleted)],
                refuses: one404 + [.recordIDInvalid, .recordVersionDiffers, .ifMatchInvalid, .recordReferredTo]
            ),
        ]
    }

    /// The refusals of what a record is to hold.
    private static let contents: [ServiceError] = [
        .recordInvalid, .recordTooLarge, .recordIDInvalid, .recordExpiryInvalid, .recordReferredTo, .recordNotShared,
        .readerUnknown,
        .tooManyReaders, .invalidRecordBody("data - is missing,"),
    ]
}

extension Endpoint.Header {
    static let ifMatchVersion = Self(
        name: "If-Match",
        summary:
            "The record's version in quotes, or its `ETag`. The record is changed only if it still has this version.",
        example: #""3""#
    )
    static let ifNoRecord = Self(
        name: "If-None-Match",
        summary: "`*`. The record is created only if it does not exist.",
        example: "*"
    )
    static let recordTag = Self(
        name: entityTag.name,
        summary: "The record's version, for `If-Match` and `If-None-Match`.",
        example: #""3""#,
        isAlwaysThere: true
    )
    static let tagOfOneRecord = Self(
        name: entityTag.name,
        summary: "The version of the record. An array has none.",
        example: #""1""#
    )
}
