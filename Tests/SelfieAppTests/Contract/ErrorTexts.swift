/// What codes mean, and what a client does; parameters' codes need none.
enum ErrorTexts {
    static let all: [String: (meaning: String, advice: String)] = [
        "parameters_missing": (
            "The call needs more. `parameters` names what is missing. `hint` tells of a body whose type is another's.",
            "Send them. URLSession sends a form unless `Content-Type` says `application/json`."
        ),
        "name_unfit": (
            """
            A name in the request has more than 255 bytes, or more than 30 combining marks in a row, or all names have more \
            than 64 KiB.
            """,
            "Use shorter names."
        ),
        "reader_full": ("A reader has 50,000 of your records already.", "Delete some, or name other readers."),
        "parameters_malformed": (
            "The query or the form is broken: percent signs or UTF-8. `hint` tells of JSON that is sent as a form.",
            "Encode it."
        ),
        "too_many_parameters": (
            "The query or the body has more than 256 members, or the body more than 64 parts; an upload, more than 16.",
            "Send fewer."
        ),
        "json_malformed": (
            "The body is no JSON, or has more than 128 levels.",
            "Make it with a JSON encoder, not by putting texts together."
        ),
        "json_not_an_object": ("The body is JSON, and no object.", "Send an object."),
        "json_required": ("The call takes `application/json` alone.", "Set `Content-Type`."),
        "multipart_malformed": ("The multipart body is broken.", "Look at the boundary and the line ends."),
        "request_incomplete": ("The body ended early.", "Send it again."),
        "request_malformed": (
            "This is no HTTP, the URL is not percent-encoded, or a header has more than 30 combining marks in a row.",
            "Use an HTTP library, and keep texts of users out of headers."
        ),
        "request_timeout": ("The request came too slowly.", "Send it again, on a better network."),
        "request_too_large": (
            "The body is too large. The message tells the most; that of a proxy may not.",
            "Send less, such as a smaller photo."
        ),
        "header_too_large": ("The header has too many bytes.", "Send fewer or shorter headers."),
        "endpoint_not_found": (
            "There is no such call. On railsauth's paths, also: another method than the path takes.",
            "Look at the URL and the method."
        ),
        "method_not_allowed": ("The path takes other methods. `Allow` names them.", "Use one of them."),
        "api_credential_wrong": (
            "The app's credential, by HTTP Basic, is missing or wrong.",
            "Check `API_AUTH_NAME` and `API_AUTH_PASSWORD`."
        ),
        "token_invalid": (
            "The token is missing or unknown, or its session was ended.", "**The session has ended**: sign in again."
        ),
        "token_expired": ("The token's time is over.", "**The session has ended**: sign in again."),
        "email_or_password_wrong": ("No account has this e-mail with this password.", "Ask the user again."),
        "password_wrong": ("The password of the signed-in user is wrong.", "Ask the user again. The session goes on."),
        "account_disabled": ("The operator has closed the account.", "Tell the user."),
        "cross_site_request": ("Only the gallery's own pages may call this.", "Use the calls below `/api`."),
        "photo_url_invalid": (
            "The photo's URL has ended, or its signature is wrong.",
            "List the photos, or read the record or the member again. 404 then means that the right has ended."
        ),
        "photo_not_found": ("There is no such photo, or it is another's.", "Drop it from the list."),
        "photo_format_unknown": (
            "The file is no photo of a known format, or is cut off.",
            "Send all of a JPEG, PNG, GIF, WebP, HEIC or AVIF."
        ),
        "photo_quota_reached": ("The user has no room for more photos.", "Have the user delete some."),
        "range_not_satisfiable": ("The photo has no such bytes.", "Begin again without a range."),
        "precondition_failed": ("The photo is another one than `If-Match` names.", "Load it again."),
        "session_not_found": ("There is no such session any more.", "Drop it from the list."),
        "file_not_found": ("The service has no such file.", "Load the page again."),
        "member_not_found": (
            "There is no such member, or none for this user.", "Drop it from the list. It says nothing of who it was."
        ),
        "member_is_oneself": ("Nobody can block oneself.", "Do not offer it."),
        "too_many_blocks": ("The user has blocked as many as one may.", "Have the user unblock somebody."),
        "field_unknown": ("The body has a member that the call does not know.", "Leave it out."),
        "role_not_found": ("There is no such role, or none for this user.", "Do not offer it."),
        "role_forbidden": ("The user does not manage the role.", "Do not offer it."),
        "role_full": ("The role has as many members as it may.", "Remove somebody first."),
        "collection_not_found": ("There is no such collection, or none for this user.", "Look at the schema."),
        "record_not_found": ("There is no such record, or none for this user.", "Drop it."),
        "record_forbidden": ("The user may read the record, but not do this.", "Do not offer it."),
        "record_id_taken": ("There is a record of this id, perhaps one that the user can't see.", "Take another id."),
        "record_id_invalid": (
            "The id is not valid, or comes twice.", "Use 1 to 255 letters, digits and `. _ : ~ @ -`."
        ),
        "message_id_taken": (
            "The id was used for another message to this inbox.", "Take another id. The same message again is 200."
        ),
        "record_referred_to": ("Another record refers to this one.", "Change that one first."),
        "record_version_differs": ("Somebody else has changed the record.", "Read it, change it again, send it again."),
        "if_match_invalid": ("`If-Match` is no entity tag.", "Send the `ETag` as it came, in its quotes."),
        "record_invalid": ("The data breaks rules of the schema, field by field.", "Correct the fields."),
        "record_malformed": (
            "The body is not a record: the record's own members go into `data`.", "Send `{\"data\":{…}}`."
        ),
        "record_too_large": (
            "The data has more than 64 KiB, or the record as it is sent has more than 32,768 JSON values.",
            "Store less."
        ),
        "record_quota_reached": (
            "The records' owner has as many as one may, or as many bytes. The message tells which, and the most.",
            """
            Have the user delete some. Their bytes are free at once, their number after 30 days. Of messages that were sent, \
            both are free after 30 days.
            """
        ),
        "too_many_records": ("The call has more than 100 records.", "Send several calls."),
        "inbox_full": (
            "The inbox has no room for more messages of the user. A sender may hold no more than is still free.",
            "Delete some of those that were sent, or try again in hours."
        ),
        "readers_not_allowed": ("Records of this collection have no readers.", "Leave `readers` and `writers` out."),
        "reader_unknown": ("Somebody who is named is not a member, or blocks the user.", "Leave the member out."),
        "too_many_readers": ("A record has at most 100 readers and writers.", "Name fewer, or use a role."),
        "expires_at_invalid": ("The end is not in the future.", "Look at the clock of the device."),
        "index_missing": ("`where` names a field without an index.", "Add the index to the schema."),
        "include_no_reference": ("`include` names a field that is not a reference.", "Leave it out."),
        "changes_access": ("The user has lost a role, or a collection was removed.", "Begin again without `since`."),
        "changes_collections": ("The cursor is of other `collections`.", "Begin again without `since`."),
        "changes_database": (
            "The database is another one, or an older state of it, or was started more than fifteen times since.",
            "Begin again without `since`."
        ),
        "changes_forgotten": ("The cursor is older than what is remembered.", "Begin again without `since`."),
        "too_many_requests": ("A limit is reached. `RateLimit-Limit` tells it.", "Wait for `Retry-After`."),
        "too_many_at_once": ("The user or the address does too much at the same time.", "Wait for `Retry-After`."),
        "internal_error": ("A mistake of the service. Its log has it, under `X-Request-Id`.", "Try again later."),
        "service_unavailable": ("The database, the store or a place is missing.", "Wait for `Retry-After`."),
    ]
}
