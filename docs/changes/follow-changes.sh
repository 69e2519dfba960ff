#!/bin/sh
# Prints each change as JSON, and goes on from the cursor in a file: sh follow-changes.sh URL FILE, with the token in TOKEN.
url=$1 file=$2
touch "$file"
while :; do
    # The service says something every 15 seconds, so a longer silence is the end.
    curl -sN --speed-limit 1 --speed-time 45 -w 'status: %{http_code}\n' -H "Authorization: Bearer $TOKEN" \
        -H "Accept: text/event-stream" -H "Last-Event-ID: $(cat "$file")" "$url/api/changes" |
        while IFS= read -r line; do
            value=${line#*: }
            case $line in
            event:*) event=$value id= ;;
            id:*) id=$value ;;
            data:*)
                [ "$event" = change ] && printf '%s\n' "$value"
                [ "$event" = reset ] && echo reset && : >"$file"
                [ -n "$id" ] && printf %s "$id" >"$file"
                ;;
            "status: 401") exit 1 ;;
            esac
        done || exit
    sleep 3
done
