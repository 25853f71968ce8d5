#!/usr/bin/env bash
# Lays out the files of the container image: `scripts/build-image-root.sh BINARY DIR`. DIR gets the program without its
# symbols, the libraries that it loads, root certificates, a user, and BusyBox's wget as the health probe. There is no
# shell. Prints the size in bytes. Needs strip, ldd, busybox and ca-certificates.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: scripts/build-image-root.sh BINARY DIR" >&2 && exit 2; }
binary=$1
root=$(realpath -m "$2")
busybox=$(command -v busybox) || { echo "busybox is missing (Debian: apt install busybox-static)" >&2 && exit 1; }
certificates=/etc/ssl/certs/ca-certificates.crt
[ -f "$certificates" ] || { echo "$certificates is missing (Debian: apt install ca-certificates)" >&2 && exit 1; }
if [ -e "$root" ] && [ -n "$(ls -A "$root")" ]; then echo "$root is not empty" >&2 && exit 1; fi

mkdir -p "$root"/{usr/bin,etc/ssl/certs,data,datasets,tmp,proc,dev}
strip -o "$root/usr/bin/papertape" "$binary"
# Named wget, it is wget and nothing else.
cp "$busybox" "$root/usr/bin/wget"
chmod 0755 "$root"/usr/bin/*

# The loader and every library, at the same path as here.
for program in "$binary" "$busybox"; do
    # A static program has none.
    libraries=$(ldd "$program" 2>/dev/null | grep -oE '/[^ ]+' || true)
    for library in $libraries; do
        mkdir -p "$root$(dirname "$library")"
        cp -L "$library" "$root$library"
    done
done

cp "$certificates" "$root/etc/ssl/certs/"
echo 'papertape:x:10001:10001:papertape:/data:/usr/bin/papertape' >"$root/etc/passwd"
echo 'papertape:x:10001:' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
# A configuration is mounted over it.
: >"$root/etc/papertape.toml"
chmod 1777 "$root/tmp"
chmod 0700 "$root/data"
# Where another user builds it, the owner is set when the image is made.
if [ "$(id -u)" -eq 0 ]; then chown 10001:10001 "$root/data" "$root/datasets"; fi
du -sb --apparent-size "$root" | cut -f1
