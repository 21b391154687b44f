# nri-compat as a static program in an empty image.
#
#   docker build -t nri-compat .
#   docker run --rm --user 0 -v /var/run/nri:/var/run/nri nri-compat probe
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The tag of the tree is the version that the program reports.
RUN git config --global --add safe.directory /src
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w" -o /out/nri-compat .
RUN mkdir -p /out/tmp && chmod 1777 /out/tmp

FROM scratch
LABEL org.opencontainers.image.title="nri-compat" \
      org.opencontainers.image.source="https://github.com/nri-compat/nri-compat" \
      org.opencontainers.image.licenses="Apache-2.0"
# Certificates for image: references.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/tmp /tmp
COPY --from=build /out/nri-compat /usr/local/bin/nri-compat
# The socket of a node needs --user 0; nothing else does.
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/nri-compat"]
