#!/bin/sh
# Fetches published series of changes and scores slowpath's searches on them.
#
#   benches/changepoints/run.sh                 clones into target/changepoints
#   benches/changepoints/run.sh --from DIR      uses checkouts or bare mirrors that lie in DIR
set -eu

here=$(cd "$(dirname "$0")/../.." && pwd)
into=$here/target/changepoints
from=
if [ "${1-}" = --from ]; then
    from=$(cd "${2:?--from needs a directory}" && pwd)
elif [ $# -gt 0 ]; then
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi

# Each repository at the revision that the README's table was made with, and the paths needed.
fetch() {
    owner=$1 name=$2 revision=$3
    shift 3
    if [ -n "$from" ] && [ -d "$from/$name" ]; then
        mkdir -p "$into"
        rm -rf "${into:?}/$name"
        ln -s "$from/$name" "$into/$name"
        return
    fi
    bare=$into/$name.git
    if [ -n "$from" ]; then
        bare=$from/$owner+$name/repo
    elif [ ! -d "$bare" ]; then
        git clone --quiet --bare "https://github.com/$owner/$name.git" "$bare"
    fi
    rm -rf "${into:?}/$name"
    for path in $(git --git-dir="$bare" ls-tree -r --name-only "$revision" -- "$@"); do
        mkdir -p "$into/$name/$(dirname "$path")"
        # A mirror may lack its largest files; the scorer says if one is missed.
        git --git-dir="$bare" show "$revision:$path" >"$into/$name/$path" 2>/dev/null ||
            rm "$into/$name/$path"
    done
}

fetch alan-turing-institute TCPD 83b3039b5c67eaf21a720e3eac4ffdade3fb421c \
    annotations.json $(
        for name in bank brent_spot businv centralia children_per_woman co2_canada construction \
            debt_ireland gdp_argentina gdp_croatia gdp_iran gdp_japan global_co2 homeruns \
            jfk_passengers lga_passengers nile ozone rail_lines run_log seatbelts \
            shanghai_license unemployment_nl us_population usd_isk well_log; do
            echo "datasets/$name/$name.json"
        done
    )
fetch firepond TCPDBench 8af7907f2a01cd79abe087d8763e882624b37c63 analysis/output/scores
fetch apache otava 1ceb1537a49d516cf6cef9a79bea6926002082f8 tests
fetch AndreyAkinshin perfolizer 435a0477f8d412c766b7ae22a400d8c6368451c4 \
    src/Perfolizer/Perfolizer.SimulationTests/Cpd
fetch mongodb signal-processing-algorithms aec099a9696d17ccd1e85a357313614a01f859a2 tests

cd "$here"
exec cargo run --quiet --release -p slowpath-core --example changepoints -- "$into"
