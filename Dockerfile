# Caddy's own image, with caddy-robots in it. Build it with: docker build -t caddy-robots .
FROM caddy:2.11-builder AS builder
# The builder may hold an older Go than go.mod asks for.
ENV GOTOOLCHAIN=auto
COPY . /src
RUN xcaddy build --with github.com/caddy-robots/caddy-robots=/src

FROM caddy:2.11
COPY --from=builder /usr/bin/caddy /usr/bin/caddy
