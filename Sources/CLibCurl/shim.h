#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <linux/sockios.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>

/* Swift can't call functions with a variable number of arguments. So there is one for each type of an option's value. */

static inline CURLcode curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curl_set_number(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

/* For the functions that take and give bytes: CURLOPT_WRITEFUNCTION, CURLOPT_READFUNCTION, CURLOPT_HEADERFUNCTION. */
static inline CURLcode curl_set_byte_function(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curl_set_socket_function(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode curl_set_resolver_function(CURL *easy, curl_resolver_start_callback value) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, value);
}

static inline CURLcode curl_set_seek_function(CURL *easy, curl_seek_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}

static inline CURLcode curl_set_debug_function(CURL *easy, curl_debug_callback value) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}

static inline CURLcode curl_set_context_function(CURL *easy, curl_ssl_ctx_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
}

/* The newer option takes names, and this one is there in all versions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline CURLcode curl_allow_http_only(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
}
static inline CURLcode curl_allow_smtp_only(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_SMTP | CURLPROTO_SMTPS));
}
#pragma GCC diagnostic pop

static inline CURLcode curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode curl_get_number(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode curl_multi_set_functions(
    CURLM *multi, curl_socket_callback onSocket, curl_multi_timer_callback onTimer, void *owner) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, onSocket);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, owner);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, onTimer);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, owner);
    return code;
}

/* The result of a transfer that has ended: a member of a union. */
static inline CURLcode curl_message_result(const CURLMsg *message) { return message->data.result; }

/* The bytes of a socket that its peer has not acknowledged yet; -1 if it is no socket (tcp(7), SIOCOUTQ). */
static inline int linux_unacknowledged_bytes(int socket) {
    int count = 0;
    return ioctl(socket, SIOCOUTQ, &count) == 0 ? count : -1;
}
