# Reads a password from standard input, and prints it encrypted for the API.
key=$(printf %s "$API_AUTH_PASSWORD" | openssl dgst -sha256 -r | cut -d ' ' -f 1)
openssl enc -aes-256-cbc -K "$key" -iv 00000000000000000000000000000000 | openssl base64 -A
