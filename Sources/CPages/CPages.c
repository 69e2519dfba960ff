// #embed is C23 (ISO/IEC 9899:2024, section 6.10.4), which clang has since version 19, with a warning before C23.
#pragma clang diagnostic ignored "-Wc23-extensions"
#include "CPages.h"

static const unsigned char shared_base_css[] = {
#embed "shared/base.css"
};

static const unsigned char shared_dom_js[] = {
#embed "shared/dom.js"
};

static const unsigned char shared_favicon_ico[] = {
#embed "shared/favicon.ico"
};

static const unsigned char shared_robots_txt[] = {
#embed "shared/robots.txt"
};

static const unsigned char docs_answer_js[] = {
#embed "docs/answer.js"
};

static const unsigned char docs_docs_css[] = {
#embed "docs/docs.css"
};

static const unsigned char docs_docs_html[] = {
#embed "docs/docs.html"
};

static const unsigned char docs_docs_js[] = {
#embed "docs/docs.js"
};

static const unsigned char docs_operation_js[] = {
#embed "docs/operation.js"
};

static const unsigned char docs_request_js[] = {
#embed "docs/request.js"
};

static const unsigned char docs_snippets_js[] = {
#embed "docs/snippets.js"
};

static const unsigned char shared_encrypt_password_js[] = {
#embed "../../docs/passwords/encrypt-password.js"
};

static const struct selfie_page pages[] = {
    {"shared/base.css", shared_base_css, sizeof shared_base_css},
    {"shared/dom.js", shared_dom_js, sizeof shared_dom_js},
    {"shared/favicon.ico", shared_favicon_ico, sizeof shared_favicon_ico},
    {"shared/robots.txt", shared_robots_txt, sizeof shared_robots_txt},
    {"docs/answer.js", docs_answer_js, sizeof docs_answer_js},
    {"docs/docs.css", docs_docs_css, sizeof docs_docs_css},
    {"docs/docs.html", docs_docs_html, sizeof docs_docs_html},
    {"docs/docs.js", docs_docs_js, sizeof docs_docs_js},
    {"docs/operation.js", docs_operation_js, sizeof docs_operation_js},
    {"docs/request.js", docs_request_js, sizeof docs_request_js},
    {"docs/snippets.js", docs_snippets_js, sizeof docs_snippets_js},
    {"shared/encrypt-password.js", shared_encrypt_password_js, sizeof shared_encrypt_password_js},
};

const struct selfie_page *selfie_pages(void) {
    return pages;
}

size_t selfie_page_count(void) {
    return sizeof pages / sizeof *pages;
}
