#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
#include <openssl/ssl.h>

/* Whether libssl holds bytes that libpq has not read yet. The socket does not show them. */
static inline int libpq_has_pending_bytes(const PGconn *connection) {
    SSL *ssl = (SSL *)PQsslStruct((PGconn *)connection, "OpenSSL");
    return ssl && SSL_pending(ssl) > 0;
}
