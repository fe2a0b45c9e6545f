#!/usr/bin/env bash
# The two commands of README.md on a machine that has Node and npm and nothing else: `scripts/bare.sh`, as root of a
# Debian machine. It makes two fresh roots with debootstrap and clones HEAD into each: in the first the commands are typed
# by root, in the second by a user without sudo. Every step prints its seconds; nothing is left of it but what it printed.
#
# Debian's own nodejs may be older than the Node on which the machine's npm runs, and its npm is not the one that README.md
# means by "with Node and npm": the roots get the machine's own. Packages come from where the machine's apt, npm and pip get
# theirs: their settings, certificates and proxies are copied, and named nowhere here.
#
# With --short, as CI runs it after the whole `npm test`, root tests only the lanes that show what the command installs:
# packages of Debian, of npm and of Python. By hand, without it, both do all they can.
set -euo pipefail
cd "$(dirname "$0")/.."

ROOT_LANES=
case "${1:-}" in
  "") ;;
  --short) ROOT_LANES=" -- check contract" ;;
  *) echo "bare.sh: expected --short or nothing, found $1" >&2 && exit 2 ;;
esac

REPOSITORY=$PWD
USER_NAME=newcomer
PORT=17411
# The system's node and npm, also where npm has put ours before them.
PATH=$(tr : '\n' <<<"$PATH" | grep -v node_modules | paste -sd :)

fail() {
  echo "bare.sh: $*" >&2
  exit 1
}

step() {
  local name=$1 start=$SECONDS
  shift
  echo "── $name"
  "$@" || fail "$name failed after $((SECONDS - start)) s"
  DONE+=("$(printf '%5d s  %s' $((SECONDS - start)) "$name")")
}

# Mounts and processes of a root are in namespaces of their own, so that they end with the command.
in_root() {
  local root=$1 user=$2 home
  home=$([ "$user" = root ] && echo /root || echo "/home/$user")
  shift 2
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child sh -c '
    root=$1 user=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" setpriv --reuid="$user" --regid="$user" --init-groups -- env -i "$@"
  ' sh "$root" "$user" "${NETWORK[@]}" "HOME=$home" "USER=$user" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin CI=true \
    sh -c 'set -e; cd "$HOME/isthmus"; eval "$1"' sh "$*" </dev/null
}

# Variables with which clients find proxies and certificates.
read_network() {
  local name
  NETWORK=()
  while IFS= read -r name; do NETWORK+=("$name=${!name}"); done < <(
    compgen -e | grep -iE '^(https?|ftp|all|no)_proxy$|^(NODE_EXTRA_CA_CERTS|(SSL|GIT_SSL)_(CERT_FILE|CERT_DIR|CAINFO)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|PIP_[A-Z_]+)$'
  )
}

make_root() {
  local mirror suite
  command -v debootstrap >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq debootstrap >/dev/null
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$(apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk -v suite="$suite" '$1 == suite && $2 == "main" { print $3; exit }')
  debootstrap --variant=minbase "$suite" "$1" ${mirror:+"$mirror"} >"$WORK/debootstrap.log" 2>&1 ||
    fail "debootstrap: $(tail -n 3 "$WORK/debootstrap.log")"
}

copy_settings() {
  local root=$1 file entry
  rm -rf "$root/etc/apt"
  cp -a /etc/apt /etc/resolv.conf /etc/hosts "$root/etc/"
  mkdir -p "$root/usr/share/keyrings" "$root/etc/ssl/certs"
  cp -a /usr/share/keyrings/. "$root/usr/share/keyrings/"
  cp -rL /etc/ssl/certs/. "$root/etc/ssl/certs/" 2>/dev/null || true
  # Packages make that folder anew; what stands here gets into it again.
  mkdir -p "$root/usr/local/share/ca-certificates"
  [ ! -e /etc/ssl/certs/ca-certificates.crt ] ||
    cp /etc/ssl/certs/ca-certificates.crt "$root/usr/local/share/ca-certificates/machine.crt"
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
  # Files and folders that the variables name.
  for entry in "${NETWORK[@]}"; do
    file=${entry#*=}
    [[ $file = /* && -e $file && ! -e $root$file ]] && cp -a --parents "$file" "$root"
  done
  for file in "$(npm config get globalconfig)" "$(npm config get userconfig)"; do
    [ ! -f "$file" ] || { cat "$file" && echo; } >>"$root/root/.npmrc"
  done
}

copy_node() {
  local root=$1 npm
  npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -L "$(command -v node)" "$root/usr/local/bin/node"
  cp -a "$npm" "$root/usr/local/lib/node_modules/npm"
  for name in npm npx; do ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$root/usr/local/bin/$name"; done
}

copy_clone() {
  local root=$1 user=$2 home=$3
  git clone -q "file://$REPOSITORY" "$root$home/isthmus"
  [ "$user" = root ] || cp "$root/root/.npmrc" "$root$home/.npmrc" 2>/dev/null || true
  chroot "$root" chown -R "$user:$user" "$home"
}

# `npm install && npm start`, a call, and a kill of npm: all in one namespace, so that what is left can be seen.
try_start() {
  in_root "$1" "$2" "
    npm install
    ISTHMUS_LISTEN=127.0.0.1:$PORT npm start >start.log 2>&1 &
    npm=\$!
    serving() { node -e 'fetch(process.argv[1]).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))' http://127.0.0.1:$PORT/healthz; }
    tries=0
    until serving; do
      tries=\$((tries + 1))
      [ \$tries -lt 100 ] || { cat start.log; echo 'the gateway does not serve' >&2; exit 1; }
      sleep 0.3
    done
    ISTHMUS_LISTEN=127.0.0.1:$PORT npm run -s isthmus -- call demo.greet name=Ada
    kill \$npm
    wait \$npm || true
    tries=0
    # The namespace has no other processes of Node.
    while readlink /proc/[0-9]*/exe | grep -q '/node\$'; do
      tries=\$((tries + 1))
      [ \$tries -lt 100 ] || { echo 'the gateway outlives npm start' >&2; exit 1; }
      sleep 0.1
    done
    ! serving || { echo 'somebody still has the port' >&2; exit 1; }
  "
}

# `npm install && npm test`. Its exit code counts, and its closing line: lanes print such lines of their own before it.
try_test() {
  local log="$WORK/test-$2.log"
  in_root "$1" "$2" "npm install && npm test$3" 2>&1 | tee "$log" &&
    grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 | grep -qE ' 0 failed(, [0-9]+ skipped)?$'
}

# Lanes of which every file needs a package.
LACKING_LANES="contract browser"

# Each package of tests/needs/programs.ts is in the advice, and named where something is left out for lack of it.
expect_advice() {
  local log="$WORK/test-$USER_NAME.log" package packages
  packages=$(sed -nE 's/.*aptPackages?: *([["].*)/\1/p' tests/needs/programs.ts | grep -oE '"[a-z0-9.+-]+"' | tr -d '"' | sort -u)
  [ -n "$packages" ] || return 1
  for package in $packages; do
    grep -qE "^ *sudo apt-get install --no-install-recommends (.* )?$package( |\$)" "$log" ||
      { echo "$package is not in the advice" >&2 && return 1; }
    grep -qE "^(skip|skipped:|in part:) .* \(apt-get install ([^)]* )?$package[ )]" "$log" ||
      { echo "nothing is said to be left out for lack of $package" >&2 && return 1; }
  done
}

# Every other lane of `npm test` has run, and passed.
expect_lanes() {
  local log="$WORK/test-$USER_NAME.log" lane lanes
  lanes=$(sed -nE '/^export const LANES/,/^}/{/isLong/d;s/^  "?([a-z0-9:]+)"?: .*/\1/p}' scripts/lanes.ts)
  [ -n "$lanes" ] || return 1
  for lane in needs build $lanes; do
    case " $LACKING_LANES " in
      *" $lane "*) grep -qE "^skip $lane +needs .*\(apt-get install " "$log" ;;
      *) grep -qE "^ok   $lane +[0-9.]+ s$" "$log" ;;
    esac || { echo "the end does not say what is expected of the lane $lane" >&2 && return 1; }
  done
}

[ "$(id -u)" -eq 0 ] || fail "only root can make a root"
command -v apt-get >/dev/null || fail "only on Debian, or what is made of it"
DONE=()
WORK=$(mktemp -d "${TMPDIR:-/tmp}/isthmus-bare.XXXXXX")
trap 'rm -rf --one-file-system "$WORK"' EXIT
read_network

step "debootstrap" make_root "$WORK/root"
copy_settings "$WORK/root"
copy_node "$WORK/root"
cp -a "$WORK/root" "$WORK/user"
chroot "$WORK/user" useradd --create-home "$USER_NAME"
copy_clone "$WORK/root" root /root
copy_clone "$WORK/user" "$USER_NAME" "/home/$USER_NAME"

step "root: npm install && npm start" try_start "$WORK/root" root
step "root: npm install && npm test$ROOT_LANES" try_test "$WORK/root" root "$ROOT_LANES"
step "user: npm install && npm start" try_start "$WORK/user" "$USER_NAME"
step "user: npm install && npm test" try_test "$WORK/user" "$USER_NAME" ""
step "user: is told what to install" expect_advice
step "user: gets every lane that needs none of it" expect_lanes

printf '%s\n' "${DONE[@]}"
echo "the whole took $SECONDS s"
