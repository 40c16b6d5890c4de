# The environment of a JavaScript or TypeScript snapshot. Built without a network (build_environment) from files that
# fetch_environment has checked; install.sh is made from results/{repo}/environment/recipe.json.
# BASE: environment.base_image, or the image made of the host's programs. It needs bash,
# coreutils, findutils, gzip, tar, and for Node glibc 2.28 and libstdc++ (node:20-slim, debian:12-slim with libstdc++6).
ARG BASE
FROM ${BASE} AS build
LABEL probe=build-stage
USER 0:0
RUN ["/bin/bash", "-c", "mkdir -p /opt/probe-env /work && chown 1000:1000 /opt/probe-env /work"]
COPY artifacts /artifacts
COPY source.tar install.sh /context/
USER 1000:1000
RUN ["/bin/bash", "-c", "tar -x -f /context/source.tar --no-same-owner -C /work && cd / && bash /context/install.sh"]

# A second stage, so that the image holds neither the sources nor the downloaded files. The folder above is
# copied, since a copied folder keeps its date and a target's is new.
FROM ${BASE}
COPY --from=build /opt/ /opt/
