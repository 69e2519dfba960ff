# Selfie in a container: `docker build -t selfie .`. See docs/deploying.md.

FROM swift:6.2-bookworm AS build
WORKDIR /build
# What bin/release would install itself; here, so that changed sources do not install it again.
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends libpq-dev libcrypt-dev libcurl4-openssl-dev libexpat1-dev libidn2-dev \
        libseccomp-dev libssl-dev zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
# The packages first: they change less often than the sources.
COPY Package.swift ./
COPY Clients/Swift Clients/Swift
RUN swift package resolve
COPY . .
RUN bin/release

FROM debian:bookworm-slim
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends ca-certificates libcrypt1 libcurl4 libexpat1 libidn2-0 libpq5 libseccomp2 libssl3 libstdc++6 libvips42 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /app --shell /usr/sbin/nologin selfie
COPY --from=build /build/dist/bin/selfie /build/dist/bin/selfie-render /usr/local/bin/
COPY --from=build /build/dist/share/man /usr/local/share/man
COPY --from=build /build/dist/migrations /app/migrations
WORKDIR /app
USER 10001
ENV PORT=3000
EXPOSE 3000
# Only uploads on their way to the store are written, into /tmp. The rest may be read-only.
VOLUME /tmp
# Whatever restarts containers must ask whether the process lives. Routers ask /readyz.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["selfie", "probe", "--path", "/livez"]
STOPSIGNAL SIGTERM
CMD ["selfie", "serve"]
