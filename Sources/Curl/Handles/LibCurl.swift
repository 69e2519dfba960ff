import CLibCurl

/// libcurl as a whole.
enum LibCurl {
    /// Whether it was set up, and uses the same libssl as this program.
    ///
    /// Its set-up may not run twice at a time before 7.84.
    static let isReady =
        curl_global_sslset(CURLSSLBACKEND_OPENSSL, nil, nil) == CURLSSLSET_OK
        && curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}
