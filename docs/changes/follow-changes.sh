#!/bin/sh
# Prints changes as JSON, starting after the cursor in a file: sh follow-changes.sh URL FILE, with the token in TOKEN.
url=$1 file=$2
touch "$file"
while :; do
    curl -sN --keepalive-time 15 -w '\nstatus: %{http_code}\n' -H "Authorization: Bearer $TOKEN" \
        -H "Accept: text/event-stream" -H "Last-Event-ID: $(cat "$file")" "$url/api/changes" |
        while IFS= read -r line; do
            value=${line#*: }
            case $line in
            event:*) event=$value ;;
            id:*) id=$value ;;
            data:*) data=$value ;;
            # A blank line ends an event. An event that was cut off has no data.
            "")
                [ -n "$data" ] || event= id=
                [ "$event" = change ] && printf '%s\n' "$data"
                [ "$event" = reset ] && echo reset && : >"$file"
                [ -n "$id" ] && printf %s "$id" >"$file.new" && mv "$file.new" "$file"
                event= id= data=
                ;;
            "status: 400" | "status: 401" | "status: 404")
                echo "The service answered $line. With 401, sign in again for another token." >&2
                exit 1
                ;;
            esac
        done || exit
    sleep 3
done
