# Sourced by the other scripts: installs what a fresh machine lacks, and says so.

# need COMMAND PACKAGE: if there is no such command, installs the Debian package that has it.
need() {
    command -v "$1" >/dev/null && return
    echo "$(basename "$0"): $1 is missing; installing $2 with apt-get"
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$2"
}

# need_component NAME: if cargo has no such command, installs the component with rustup.
need_component() {
    cargo "$1" --version >/dev/null 2>&1 && return
    local component=$1
    [ "$component" = fmt ] && component=rustfmt
    echo "$(basename "$0"): cargo $1 is missing; installing $component with rustup"
    rustup component add "$component"
}

# need_rust: there is no installing Rust behind somebody's back.
need_rust() {
    if ! command -v cargo >/dev/null; then
        echo "$(basename "$0"): cargo is missing; install Rust 1.95 or later (https://rustup.rs) and start again" >&2
        exit 1
    fi
    need cc gcc
}
