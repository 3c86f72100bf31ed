# Sourced by the other scripts: finds a Python and makes virtual environments. Needs bash.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

say() { printf '\n== %s\n' "$*"; }

find_python() {
    local name
    for name in "${PHOTOCRAFT_PYTHON:-}" python3 python3.11 python3.12 python3.13; do
        [ -n "$name" ] && command -v "$name" >/dev/null 2>&1 || continue
        if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
            >/dev/null 2>&1; then
            command -v "$name"
            return
        fi
    done
    echo "error: Python 3.11 or newer with its venv module was not found" >&2
    echo "hint: install it (Debian: apt-get install python3 python3-venv) or set PHOTOCRAFT_PYTHON" >&2
    return 1
}

# make_environment FOLDER EXTRAS: a virtual environment with the package and the extras in it.
# Nothing is installed again while pyproject.toml and the extras stay the same.
make_environment() {
    local folder=$1 extras=$2 python stamp wanted extra links=()
    # uv does not read pip's own setting for folders of wheels.
    [ -n "${PIP_FIND_LINKS:-}" ] && links=(--find-links "${PIP_FIND_LINKS%% *}")
    stamp=$folder/.photocraft-installed
    # Another script may have put more extras there: they stay.
    for extra in $(head -n 1 "$stamp" 2>/dev/null | grep -xE '[a-z,-]+' | tr , ' '); do
        [[ ",$extras," == *",$extra,"* ]] || extras+=",$extra"
    done
    wanted=$(tr , '\n' <<<"$extras" | sort | paste -sd, -)$'\n'"$(cksum <pyproject.toml) $PWD"
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
    python=$(find_python) || return 1
    say "installing [$extras] into $folder (once)"
    [ -x "$folder/bin/python" ] || "$python" -m venv "$folder" || return 1
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "uv>=0.9" || return 1
    "$folder/bin/python" -m uv pip install --quiet --python "$folder/bin/python" \
        "${links[@]}" -e ".[$extras]" || return 1
    printf '%s' "$wanted" >"$stamp"
}
