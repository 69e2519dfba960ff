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

static const unsigned char shared_welcome_css[] = {
#embed "shared/welcome.css"
};

static const unsigned char shared_welcome_html[] = {
#embed "shared/welcome.html"
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
static const unsigned char docs_fields_js[] = {
#embed "docs/fields.js"
};
static const unsigned char docs_json_js[] = {
#embed "docs/json.js"
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

static const unsigned char gallery_api_js[] = {
#embed "gallery/api.js"
};

static const unsigned char gallery_camera_js[] = {
#embed "gallery/camera.js"
};

static const unsigned char gallery_changes_js[] = {
#embed "gallery/changes.js"
};

static const unsigned char gallery_codes_js[] = {
#embed "gallery/codes.js"
};

static const unsigned char gallery_deletions_js[] = {
#embed "gallery/deletions.js"
};

static const unsigned char gallery_forms_js[] = {
#embed "gallery/forms.js"
};

static const unsigned char gallery_gallery_css[] = {
#embed "gallery/gallery.css"
};

static const unsigned char gallery_gallery_html[] = {
#embed "gallery/gallery.html"
};

static const unsigned char gallery_gallery_js[] = {
#embed "gallery/gallery.js"
};

static const unsigned char gallery_grid_js[] = {
#embed "gallery/grid.js"
};

static const unsigned char gallery_images_js[] = {
#embed "gallery/images.js"
};

static const unsigned char gallery_library_js[] = {
#embed "gallery/library.js"
};

static const unsigned char gallery_photos_js[] = {
#embed "gallery/photos.js"
};

static const unsigned char gallery_settings_js[] = {
#embed "gallery/settings.js"
};

static const unsigned char gallery_toasts_js[] = {
#embed "gallery/toasts.js"
};

static const unsigned char gallery_uploads_js[] = {
#embed "gallery/uploads.js"
};

static const unsigned char gallery_viewer_js[] = {
#embed "gallery/viewer.js"
};

static const unsigned char shared_encrypt_password_js[] = {
#embed "../../docs/passwords/encrypt-password.js"
};

static const struct selfie_page pages[] = {
    {"shared/base.css", shared_base_css, sizeof shared_base_css},
    {"shared/dom.js", shared_dom_js, sizeof shared_dom_js},
    {"shared/favicon.ico", shared_favicon_ico, sizeof shared_favicon_ico},
    {"shared/robots.txt", shared_robots_txt, sizeof shared_robots_txt},
    {"shared/welcome.css", shared_welcome_css, sizeof shared_welcome_css},
    {"shared/welcome.html", shared_welcome_html, sizeof shared_welcome_html},
    {"docs/answer.js", docs_answer_js, sizeof docs_answer_js},
    {"docs/docs.css", docs_docs_css, sizeof docs_docs_css},
    {"docs/docs.html", docs_docs_html, sizeof docs_docs_html},
    {"docs/docs.js", docs_docs_js, sizeof docs_docs_js},
    {"docs/fields.js", docs_fields_js, sizeof docs_fields_js},
    {"docs/json.js", docs_json_js, sizeof docs_json_js},
    {"docs/operation.js", docs_operation_js, sizeof docs_operation_js},
    {"docs/request.js", docs_request_js, sizeof docs_request_js},
    {"docs/snippets.js", docs_snippets_js, sizeof docs_snippets_js},
    {"gallery/api.js", gallery_api_js, sizeof gallery_api_js},
    {"gallery/camera.js", gallery_camera_js, sizeof gallery_camera_js},
    {"gallery/changes.js", gallery_changes_js, sizeof gallery_changes_js},
    {"gallery/codes.js", gallery_codes_js, sizeof gallery_codes_js},
    {"gallery/deletions.js", gallery_deletions_js, sizeof gallery_deletions_js},
    {"gallery/forms.js", gallery_forms_js, sizeof gallery_forms_js},
    {"gallery/gallery.css", gallery_gallery_css, sizeof gallery_gallery_css},
    {"gallery/gallery.html", gallery_gallery_html, sizeof gallery_gallery_html},
    {"gallery/gallery.js", gallery_gallery_js, sizeof gallery_gallery_js},
    {"gallery/grid.js", gallery_grid_js, sizeof gallery_grid_js},
    {"gallery/images.js", gallery_images_js, sizeof gallery_images_js},
    {"gallery/library.js", gallery_library_js, sizeof gallery_library_js},
    {"gallery/photos.js", gallery_photos_js, sizeof gallery_photos_js},
    {"gallery/settings.js", gallery_settings_js, sizeof gallery_settings_js},
    {"gallery/toasts.js", gallery_toasts_js, sizeof gallery_toasts_js},
    {"gallery/uploads.js", gallery_uploads_js, sizeof gallery_uploads_js},
    {"gallery/viewer.js", gallery_viewer_js, sizeof gallery_viewer_js},
    {"shared/encrypt-password.js", shared_encrypt_password_js, sizeof shared_encrypt_password_js},
};

const struct selfie_page *selfie_pages(void) {
    return pages;
}

size_t selfie_page_count(void) {
    return sizeof pages / sizeof *pages;
}
