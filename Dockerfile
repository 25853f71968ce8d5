# Papertape as an image: the program, its libraries and root certificates, without a shell or a package manager.
#
#   docker build -t papertape .
#   docker run --rm --read-only --tmpfs /tmp -v papertape:/data papertape run --demo
#
# See docs/install.md. The last stage has the files that scripts/build-image-root.sh lays out, and nothing else.

FROM node:22.21-bookworm-slim AS pages
WORKDIR /src
COPY web web
COPY crates/api/src/pages.rs crates/api/src/pages.rs
COPY scripts/build-web.sh scripts/compress-pages.mjs scripts/
RUN bash scripts/build-web.sh

FROM rust:1.95-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends busybox-static ca-certificates \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
COPY --from=pages /src/web/dist web/dist
RUN cargo build --release --locked --package papertape --bin papertape \
    && bash scripts/build-image-root.sh target/release/papertape /image

FROM scratch
COPY --from=build /image /
ENV PATH=/usr/bin \
    HOME=/data \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    PAPERTAPE_CONFIG=/etc/papertape.toml \
    PAPERTAPE_DATA_DIR=/data \
    PAPERTAPE_DATASETS_DIR=/datasets \
    PAPERTAPE_LISTEN=0.0.0.0:8080
WORKDIR /data
VOLUME ["/data", "/datasets"]
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s --start-interval=1s --retries=3 \
    CMD ["/usr/bin/wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8080/health"]
ENTRYPOINT ["/usr/bin/papertape"]
CMD ["serve"]
