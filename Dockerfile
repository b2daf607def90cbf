# Longshore on one machine (docs/self-hosting.md). Build it in a checkout after `npm ci` and `npm run bundle -- server`.
# Writes to /data only.
#
#   docker build --tag longshore-server .
#   docker run --read-only --volume longshore:/data --publish 127.0.0.1:8787:8787 longshore-server --url http://localhost:8787

ARG NODE_IMAGE=node:24.21.0-trixie-slim

# workerd, the runtime of Workers, and what starts it.
FROM $NODE_IMAGE AS packages
WORKDIR /usr/local/lib/longshore
COPY packages/server/package.json ./
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund --no-package-lock

FROM $NODE_IMAGE
COPY --from=packages /usr/local/lib/longshore/ /usr/local/lib/longshore/
COPY packages/server/dist/ /usr/local/lib/longshore/dist/
# For `docker exec CONTAINER longshore-server backup FILE`.
RUN ln -s ../lib/longshore/dist/longshore-server.js /usr/local/bin/longshore-server && mkdir -m 0700 /data && chown 1000:1000 /data
ENV LONGSHORE_DATA=/data LONGSHORE_HOST=0.0.0.0
WORKDIR /data
# The user `node` of the base image, as a number, with which Kubernetes sees that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8787
# Running requests have 20 seconds: give the container 30 to stop.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/usr/local/lib/longshore/dist/longshore-server.js"]
