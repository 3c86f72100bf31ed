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

# find_links: sets links to what uv needs for the folders of wheels that pip is set to use, by its
# variable or in its configuration; uv reads neither.
find_links() {
    local folders=${PIP_FIND_LINKS:-} python
    links=()
    if [ -z "$folders" ] && python=$(find_python); then
        folders=$("$python" -m pip config get global.find-links 2>/dev/null || true)
    fi
    folders=${folders%%[[:space:]]*}
    [ -z "$folders" ] || links=(--find-links "$folders")
}

# start_environment FOLDER: an empty one with uv in it, where there is none.
start_environment() {
    local python
    python=$(find_python) || return 1
    [ -x "$1/bin/python" ] || "$python" -m venv "$1" || return 1
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check "uv>=0.9"
}

# make_environment FOLDER EXTRAS: a virtual environment with the package and the extras in it.
# Nothing is installed again while pyproject.toml, the C sources and the extras stay the same.
make_environment() {
    local folder=$1 extras=$2 stamp wanted extra links
    find_links
    stamp=$folder/.photocraft-installed
    # Another script may have put more extras there: they stay.
    for extra in $(head -n 1 "$stamp" 2>/dev/null | grep -xE '[a-z,-]+' | tr , ' '); do
        [[ ",$extras," == *",$extra,"* ]] || extras+=",$extra"
    done
    wanted=$(tr , '\n' <<<"$extras" | sort | paste -sd, -)$'\n'"$(cat pyproject.toml native/*/* | cksum) $PWD"
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
    say "installing [$extras] into $folder (once)"
    start_environment "$folder" || return 1
    "$folder/bin/python" -m uv pip install --quiet --python "$folder/bin/python" \
        "${links[@]}" -e ".[$extras]" || return 1
    printf '%s' "$wanted" >"$stamp"
}

# engine_obstacle: one line that says why vLLM's CPU build cannot run here; nothing where it can.
engine_obstacle() {
    local version
    if [ "$(uname -sm)" != "Linux x86_64" ]; then
        echo "vLLM's CPU build is for Linux on x86-64, this is $(uname -sm)"
    elif ! grep -qw avx2 /proc/cpuinfo; then
        echo "vLLM's CPU build needs AVX2, this processor has none"
    elif ! version=$("$(find_python)" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); then
        echo "no Python was found"
    elif [[ "$version" != 3.1[123] ]]; then
        echo "the pinned engine is for Python 3.11 to 3.13, this is $version"
    fi
}

# make_engine_environment FOLDER: vLLM on the CPU by pinned packages, then this package beside it
# with what its tests need. On failure the last line of stderr says why.
make_engine_environment() {
    local folder=$1 extras=cpu,dev,torch-parity pins=scripts/engine/requirements.txt
    local stamp wanted links python=$1/bin/python problem
    find_links
    stamp=$folder/.photocraft-installed
    wanted=$(cat pyproject.toml native/*/* "$pins" scripts/engine/stand_in/*.py scripts/engine/stand_in/*.toml | cksum)" $PWD"
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
    problem=$(engine_obstacle)
    if [ -n "$problem" ]; then
        echo "$problem" >&2
        return 1
    fi
    say "installing the engine into $folder (once, 3 GB)"
    start_environment "$folder" || return 1
    # Without dependencies: the pins are all there is, less what cannot load (see overrides.txt).
    "$python" -m uv pip install --quiet --python "$python" "${links[@]}" --no-deps \
        -r "$pins" ./scripts/engine/stand_in || return 1
    "$python" -m uv pip install --quiet --python "$python" "${links[@]}" \
        --constraint "$pins" -e ".[$extras]" || return 1
    printf '%s' "$wanted" >"$stamp"
}

# make_triton FOLDER: Triton for the engine environment's torch, in a folder of its own (700 MB):
# only a process with it on PYTHONPATH sees it, and vLLM stays as it is without.
make_triton() {
    local stamp=$1/.photocraft-installed pins=scripts/engine/triton.txt python=.venv-engine/bin/python
    local links
    [ -f "$stamp" ] && cmp -s "$stamp" "$pins" && return
    find_links
    say "installing Triton into $1 (once, 700 MB)"
    "$python" -m uv pip install --quiet --python "$python" "${links[@]}" --no-deps --target "$1" \
        -r "$pins" || return 1
    cp "$pins" "$stamp"
}

# one_line_of FILE: the reason in what an installation said.
one_line_of() {
    local line
    line=$(sed -n 's/^ *cause: //p' "$1" | tail -n 1)
    [ -n "$line" ] || line=$(sed -E '/^(WARNING|warning|hint)|^ *$/d' "$1" | tail -n 1)
    [[ "$line" != *torch==*+cpu* ]] ||
        line="no wheel of torch for the CPU was found; PIP_FIND_LINKS has to name its folder or page"
    echo "${line:-of an unknown reason}"
}
