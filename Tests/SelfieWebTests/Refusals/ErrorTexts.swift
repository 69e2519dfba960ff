/// What error codes mean, and what a client should do; parameters' codes need none.
enum ErrorTexts {
    static let all: [String: (meaning: String, remedy: String)] = [
        "parameters_missing": (
            """
            Required parameters are missing. `parameters` lists them. `hint` says if the body has another type than its \
            `Content-Type`.
            """,
            "Send them. URLSession sends a form unless `Content-Type` is `application/json`."
        ),
        "name_unfit": (
            """
            A name in the request has more than 255 bytes or 30 combining marks in a row. Or all names together have more than \
            64 KiB.
            """,
            "Use shorter names."
        ),
        "reader_full": ("A reader already has 50,000 of your records.", "Delete some, or choose other readers."),
        "parameters_malformed": (
            "The query or the form has invalid percent-encoding or UTF-8. `hint` says if JSON was sent as a form.",
            "Encode it correctly."
        ),
        "too_many_parameters": (
            "The query or the body has more than 256 parameters, or the body more than 64 parts (an upload: 16).",
            "Send fewer."
        ),
        "json_malformed": (
            "The body is not JSON, or has more than 128 levels.", "Use a JSON encoder; do not concatenate strings."
        ),
        "json_not_an_object": ("The body is JSON, but not an object.", "Send an object."),
        "json_required": ("The call takes only `application/json`.", "Set `Content-Type`."),
        "multipart_malformed": ("The multipart body is malformed.", "Check the boundary and the line endings."),
        "request_incomplete": ("The body ended early.", "Send it again."),
        "request_malformed": (
            "This is not HTTP, the URL is not percent-encoded, or a header has more than 30 combining marks in a row.",
            "Use an HTTP library, and do not put users' texts into headers."
        ),
        "request_timeout": ("The request arrived too slowly.", "Send it again, on a better network."),
        "request_too_large": (
            "The body is too large. The message has the limit; a proxy's message may not.",
            "Send less, such as a smaller photo."
        ),
        "header_too_large": ("The header has too many bytes.", "Send fewer or shorter headers."),
        "endpoint_not_found": (
            "There is no such call. On railsauth's paths, the method may also be wrong.",
            "Check the URL and the method."
        ),
        "method_not_allowed": ("The path takes other methods. `Allow` lists them.", "Use one of them."),
        "api_credential_wrong": (
            "The app's credential, by HTTP Basic, is missing or wrong.",
            "Check `API_AUTH_NAME` and `API_AUTH_PASSWORD`."
        ),
        "token_invalid": (
            "The token is missing or unknown, or its session was ended.", "**The session has ended**: sign in again."
        ),
        "token_expired": ("The token has expired.", "**The session has ended**: sign in again."),
        "email_or_password_wrong": (
            "No account has this e-mail address with this password.", "Ask the user for both again."
        ),
        "password_wrong": (
            "The password of the signed-in user is wrong.", "Ask the user again. The session stays valid."
        ),
        "code_invalid": (
            """
            The code is wrong, used, older than ten minutes, for another purpose or account, or a newer one was sent. After five \
            wrong tries, it works no more.
            """,
            "Ask the user for the code from the newest mail, or send another one."
        ),
        "account_disabled": (
            "The operator has disabled the account. Only a correct password or code gets this answer.", "Tell the user."
        ),
        "email_unverified": (
            "The service requires verified e-mail addresses. Only a correct password gets this answer.",
            "Send a code for `signin`, and sign in with it."
        ),
        "password_exists": (
            "The account has a password, so `set_password` can't set the first one.",
            "Use `reset_password`, or `recover_password`."
        ),
        "cross_site_request": ("Only the gallery's own pages may call this.", "Use the calls below `/api`."),
        "photo_url_invalid": (
            "The photo's URL has expired, or its signature is wrong.",
            "List the photos, or read the record or the member again. If that gets 404, the user has lost access."
        ),
        "photo_not_found": (
            "There is no such photo, or it belongs to somebody else.", "Remove it from the app's list."
        ),
        "photo_format_unknown": (
            "The file is not a photo in a known format, or is incomplete.",
            "Send a complete JPEG, PNG, GIF, WebP, HEIC or AVIF."
        ),
        "photo_quota_reached": ("The user may not have more photos.", "Ask the user to delete some."),
        "idempotency_key_invalid": (
            "`Idempotency-Key` is not 1 to 255 visible ASCII characters, or was sent twice.", "Send a UUID."
        ),
        "idempotency_key_reused": (
            "The key came with another photo, another title, or another `listed` before.",
            "Use a new key for each photo."
        ),
        "upload_under_way": (
            "An upload with the same key is under way. If its process has crashed, that lasts 80 seconds at most.",
            "Wait as long as `Retry-After` says, and send the same upload again."
        ),
        "upload_deleted": (
            "The photo that was uploaded with this key was deleted within the last day.",
            "Do not send it again, or use a new key."
        ),
        "range_not_satisfiable": (
            "The range lies outside the photo.", "Load the photo from the start, without a range."
        ),
        "precondition_failed": (
            "The photo does not match `If-Match` or `If-Unmodified-Since`.", "Load the photo again."
        ),
        "session_not_found": ("There is no such session, or it has ended.", "Remove it from the app's list."),
        "file_not_found": ("The service has no such file.", "Load the page again."),
        "member_not_found": (
            "There is no such member, or the user may not see them.", "Remove the member from the app's list."
        ),
        "member_is_oneself": ("A user cannot block themselves.", "Do not offer it."),
        "device_not_found": ("The user has no such device.", "Nothing: it is gone."),
        "too_many_devices": (
            "The user has 20 devices already.", "Ask the user to sign out elsewhere, or remove a device."
        ),
        "subscription_not_found": ("The user has no such subscription.", "Nothing: it is gone."),
        "too_many_subscriptions": ("The user has 50 subscriptions already.", "Remove one, or make one wider."),
        "subscription_id_invalid": (
            "A subscription's id has other characters than `A-Z a-z 0-9 . _ : ~ @ -`, or more than 255.",
            "Make it of these."
        ),
        "too_many_blocks": ("The user has blocked 1,000 members already.", "Ask the user to unblock somebody."),
        "field_unknown": ("The body has a member that the call does not take.", "Leave it out."),
        "role_not_found": ("There is no such role, or the user may not see it.", "Do not offer it."),
        "role_forbidden": ("The user does not manage the role.", "Do not offer it."),
        "role_full": ("The role has 10,000 members already.", "Remove somebody first."),
        "collection_not_found": ("There is no such collection, or the user may not see it.", "Check the schema."),
        "record_not_found": ("There is no such record, or the user may not see it.", "Remove it from the app's list."),
        "record_forbidden": ("The user may read the record, but not do this.", "Do not offer it."),
        "record_id_taken": (
            "A record already has this id. The user may be unable to see it.", "Choose another id."
        ),
        "record_id_invalid": (
            "The id is not valid, or appears twice in the call.", "Use 1 to 255 letters, digits and `. _ : ~ @ -`."
        ),
        "message_id_taken": (
            "The id was used for another message to this inbox.",
            "Choose another id. Sending the same message again gets 200."
        ),
        "record_referred_to": ("Another record refers to this one.", "Change that one first."),
        "record_version_differs": (
            "The record has another version, or exists already (`If-None-Match: *`).",
            "Read it, make the change again, send it again."
        ),
        "if_match_invalid": ("`If-Match` is not an entity tag.", "Send the `ETag` unchanged, with its quotes."),
        "record_invalid": ("The data breaks rules of the schema. The message lists the fields.", "Correct the fields."),
        "record_malformed": (
            "The body is not a record. The record's fields belong in `data`.", "Send `{\"data\":{…}}`."
        ),
        "record_too_large": (
            "The data has more than 64 KiB, or the body has more than 32,768 JSON values.", "Store less."
        ),
        "record_quota_reached": (
            "The records' owner has the maximum number of records or bytes. The message has the limit.",
            """
            Ask the user to delete some. That frees their bytes at once, and their number after 30 days. For sent messages, \
            it frees both after 30 days.
            """
        ),
        "too_many_records": ("The call has more than 100 records.", "Send several calls."),
        "inbox_full": (
            "The inbox has no room for more messages from this user. One sender may not have more than is still free.",
            "Delete some sent messages, or try again in hours."
        ),
        "readers_not_allowed": ("Records of this collection have no readers.", "Leave out `readers` and `writers`."),
        "reader_unknown": (
            "A reader or writer is not a member, or has blocked the user.", "Leave the member out."
        ),
        "too_many_readers": ("A record has at most 100 readers and writers.", "Use fewer, or use a role."),
        "expires_at_invalid": ("`expires_at` is not in the future.", "Check the device's clock."),
        "index_missing": ("`where` uses a field without an index.", "Add the index to the schema."),
        "include_no_reference": ("`include` names a field that is not a reference field.", "Leave it out."),
        "changes_access": (
            "The user has lost a role, or a collection was removed.", "Start again without `since`."
        ),
        "changes_collections": ("The cursor is for other `collections`.", "Start again without `since`."),
        "changes_database": (
            "The database is another one, was restored from a backup, or has restarted more than fifteen times since.",
            "Start again without `since`."
        ),
        "changes_forgotten": ("The cursor is older than 30 days.", "Start again without `since`."),
        "too_many_requests": (
            "A rate limit is reached. `RateLimit-Limit` has the limit.", "Wait as long as `Retry-After` says."
        ),
        "too_many_at_once": (
            "The user or the address has too many parallel requests, or unread answers.",
            "Wait as long as `Retry-After` says."
        ),
        "internal_error": (
            "An error in the service. The log has it under the `X-Request-Id`.", "Try again later."
        ),
        "service_unavailable": (
            "The database or the store is not available, or the service is busy.", "Wait as long as `Retry-After` says."
        ),
    ]
}
