/// The lines with which a newcomer uploads a first photo.
struct CurlExamples {
    let origin: String
    /// How to call this program from the current folder.
    let program: String

    /// Lines for a shell in the project's folder, to paste all at once or one by one.
    var text: String {
        """
        . ./.env
        PASSWORD=$(printf 'my password' | \(program) encrypt-password)
        curl -s -u "$API_AUTH_NAME:$API_AUTH_PASSWORD" \(origin)/api/signup -d full_name='Ada Lovelace' -d email=ada@example.com --data-urlencode "password=$PASSWORD"; echo
        TOKEN=$(curl -s -u "$API_AUTH_NAME:$API_AUTH_PASSWORD" \(origin)/api/signin -d email=ada@example.com --data-urlencode "password=$PASSWORD" | sed 's/.*"api_authtoken":"\\([^"]*\\)".*/\\1/')
        curl -s -H "Authorization: Token token=$TOKEN" \(origin)/api/upload_photo -F title='My first selfie' -F image=@docs/example.jpg; echo
        curl -s -H "Authorization: Token token=$TOKEN" \(origin)/api/get_photos; echo
        """
    }
}
