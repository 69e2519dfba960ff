# shellcheck shell=bash disable=SC2154 # `state`, `program` and `migrations` are of bin/cluster
# Sourced by bin/cluster: hosts in network namespaces, their files, and their processes.

# Most of these programs are there, also for root after su.
PATH=$PATH:/usr/sbin:/sbin

network=selfie-net
databases=(db1 db2 db3)
poolers=(pool1 pool2)
edges=(edge1 edge2)
apps=(app1 app2 app3 app4)
stores=(store1 store2 store3)
hosts=("${databases[@]}" "${poolers[@]}" "${edges[@]}" "${apps[@]}" "${stores[@]}" client)
secrets=("etcd token" "password of the Patroni API" "password of postgres" "password of replicator" "password of rewinder"
    "password of selfie" "API password" "secret key base" "store key id" "store secret")

# --- Hosts ---------------------------------------------------------------------------------------------------------------

address_of() { awk -v host="$1" '$2 == host { print $1 }' deploy/cluster/hosts; }

exists() { [ -e "/run/netns/selfie-$1" ]; }

# Each command has the host's own name, /var/lib, /var/log and /run. `ip netns exec` adds its files in /etc.
# shellcheck disable=SC2016 # for another shell
enter='hostname "$1" && mount --bind "$2/lib" /var/lib && mount --bind "$2/log" /var/log && mount --bind "$2/run" /run &&
    shift 2 && exec "$@"'

# on HOST COMMAND...
on() {
    local host=$1
    shift
    ip netns exec "selfie-$host" unshare --uts bash -c "$enter" enter "$host" "$state/hosts/$host" "$@"
}

# ask HOST URL [SECONDS]: a request from the client
ask() { ip netns exec selfie-client curl --silent --max-time "${3:-2}" "http://$1$2"; }

# succeeds HOST URL [SECONDS]: whether such a request gets an answer that is no error
succeeds() { ip netns exec selfie-client curl --silent --fail --output /dev/null --max-time "${3:-2}" "http://$1$2"; }

is_primary() { succeeds "$1:8008" /primary 1; }

members() {
    local host
    for host in "${databases[@]}"; do
        ask "$host:8008" /cluster 2>/dev/null && return
    done
    return 1
}

named_host() {
    local host=$1
    case $1 in
    primary) for host in "${databases[@]}"; do is_primary "$host" && break || host=; done ;;
    standby) host=$(members | jq -r '.members[] | select(.role == "sync_standby").name') ;;
    esac
    [[ " ${hosts[*]} " == *" $host "* ]] || fail "There is no host $1 at present. The hosts are: ${hosts[*]}"
    echo "$host"
}

make_network() {
    local host
    if [ ! -e /run/netns/$network ]; then
        ip netns add $network || fail "No network namespace can be made here. This needs Linux with CONFIG_NET_NS, and root."
        ip -n $network link add bridge type bridge ||
            fail "No bridge can be made here. This needs Linux with CONFIG_BRIDGE and CONFIG_VETH."
    fi
    ip -n $network link set bridge up
    mkdir -p /etc/netns
    for host in "${hosts[@]}"; do
        ln -sfn "$state/hosts/$host/etc" "/etc/netns/selfie-$host"
        exists "$host" || ip netns add "selfie-$host"
        if ! ip -n $network link show "selfie-$host" >/dev/null 2>&1; then
            ip -n $network link add "selfie-$host" type veth peer name eth0 netns "selfie-$host"
            ip -n "selfie-$host" address add "$(address_of "$host")/24" dev eth0
        fi
        connect "$host"
    done
}

connect() {
    ip -n $network link set "selfie-$1" master bridge up
    ip -n "selfie-$1" link set lo up
    ip -n "selfie-$1" link set eth0 up
}

# --- Configuration -------------------------------------------------------------------------------------------------------

make_secrets() {
    local name
    [ ! -s "$state/secrets" ] || return 0
    for name in "${secrets[@]}"; do
        echo "$name=$(openssl rand -hex 32)"
    done >"$state/secrets.new"
    echo "ceph cluster id=$(cat /proc/sys/kernel/random/uuid)" >>"$state/secrets.new"
    mv "$state/secrets.new" "$state/secrets"
}

secret() { sed -n "s/^$1=//p" "$state/secrets"; }

# fill HOST FILE TARGET [OWNER]: copies a file of deploy/cluster with its <names> filled in
fill() {
    local target=$state/hosts/$1/$3
    mkdir -p "$(dirname "$target")"
    { sed 's|^\([^=]*\)=\(.*\)$|s/<\1>/\2/g|' "$state/secrets" && echo "s/<host>/$1/g; s/<address>/$(address_of "$1")/g"; } |
        sed -f - "deploy/cluster/$2" >"$target"
    chmod 640 "$target"
    chown "${4:-root}:${4:-root}" "$target"
}

make_files() {
    local host
    for host in "${hosts[@]}"; do
        # After a reboot, files of process ids are wrong.
        exists "$host" || rm -rf "$state/hosts/$host/run"
        mkdir -p "$state/hosts/$host/"{etc,lib,log,run}
        fill "$host" hosts etc/hosts
        chmod 644 "$state/hosts/$host/etc/hosts"
        case $host in
        db*)
            fill "$host" db/etcd.env etcd.env
            fill "$host" db/patroni.env patroni.env
            fill "$host" db/patroni.yml etc/patroni/config.yml postgres
            own "$host" postgres lib/postgresql run/postgresql
            own "$host" etcd lib/etcd
            ;;
        pool*)
            fill "$host" pool/pgbouncer.ini etc/pgbouncer/pgbouncer.ini postgres
            fill "$host" pool/userlist.txt etc/pgbouncer/userlist.txt postgres
            fill "$host" pool/haproxy.cfg etc/haproxy/haproxy.cfg
            own "$host" postgres log/postgresql run/postgresql
            ;;
        edge*)
            fill "$host" edge/haproxy.cfg etc/haproxy/haproxy.cfg
            fill "$host" edge/unavailable.http etc/haproxy/unavailable.http
            ;;
        app*)
            fill "$host" app/selfie.env selfie.env
            [[ $host != app[34] ]] ||
                sed -i 's/pool1:\([0-9]*\),pool2:/pool2:\1,pool1:/' "$state/hosts/$host/selfie.env"
            [ ! -s "$state/settings" ] || cat "$state/settings" >>"$state/hosts/$host/selfie.env"
            fill "$host" app/haproxy.cfg etc/haproxy/haproxy.cfg
            ;;
        store*)
            fill "$host" store/ceph.conf etc/ceph/ceph.conf ceph
            own "$host" ceph lib/ceph/{mon,mgr,osd,tmp} log/ceph run/ceph
            ;;
        esac
        mkdir -p "$state/hosts/$host/run/haproxy"
    done
}

# own HOST USER FOLDER...
own() {
    local host=$1 user=$2 folder
    shift 2
    for folder in "$@"; do
        install -d -o "$user" -g "$user" "$state/hosts/$host/$folder"
    done
}

# --- Processes -----------------------------------------------------------------------------------------------------------

processes_of() {
    case $1 in
    db*) echo etcd patroni ;;
    pool*) echo haproxy pgbouncer ;;
    edge*) echo haproxy ;;
    app*) echo haproxy selfie ;;
    store3) echo mon mgr osd ;;
    store*) echo mon mgr osd rgw ;;
    esac
}

as() { echo "setpriv --reuid $1 --regid $1 --init-groups"; }

# Prints the command of a process.
command_of() {
    local host=$1 ceph="-f --setuser ceph --setgroup ceph"
    case $2 in
    etcd) echo "$(as etcd) etcd" ;;
    patroni) echo "$(as postgres) patroni /etc/patroni/config.yml" ;;
    pgbouncer) echo "$(as postgres) pgbouncer -q /etc/pgbouncer/pgbouncer.ini" ;;
    haproxy) echo "haproxy -W -db -f /etc/haproxy/haproxy.cfg" ;;
    selfie) echo "$program serve --migrations $migrations" ;;
    mon | mgr) echo "ceph-$2 $ceph -i $host" ;;
    osd) echo "ceph-osd $ceph -i $((${host#store} - 1))" ;;
    rgw) echo "radosgw $ceph -n client.rgw.$host" ;;
    esac
}

# Every process of a host is in its namespace. So an old process id that another process has got is not taken for it.
runs() {
    local pid
    pid=$(cat "$state/hosts/$1/$2.pid" 2>/dev/null) && ip netns pids "selfie-$1" | grep -qx "$pid"
}

# start HOST [PROCESS]...: starts those that do not run
start() {
    local host=$1 process line settings words descriptor
    shift
    for process in "$@"; do
        ! runs "$host" "$process" || continue
        settings=()
        if [ -f "$state/hosts/$host/$process.env" ]; then
            while IFS= read -r line; do settings+=("$line"); done < <(grep '^[^#]' "$state/hosts/$host/$process.env")
        fi
        read -ra words < <(command_of "$host" "$process")
        # By `export`, because all users could read the arguments of env.
        (
            for line in "${settings[@]}"; do export "${line?}"; done
            # Whoever waits for the end of bin/cluster may wait for the end of what it has passed on.
            for descriptor in "/proc/$BASHPID/fd/"*; do
                descriptor=${descriptor##*/}
                [ "$descriptor" -le 2 ] || eval "exec $descriptor>&-"
            done
            cd /
            exec setsid ip netns exec "selfie-$host" unshare --uts bash -c "$enter" enter "$host" \
                "$state/hosts/$host" "${words[@]}"
        ) </dev/null >>"$state/hosts/$host/log/$process.log" 2>&1 &
        echo $! >"$state/hosts/$host/$process.pid"
    done
}

# wait_for SECONDS WHAT "HOST PROCESS" COMMAND...: after a failure, the process's log is shown
wait_for() {
    local until=$((SECONDS + $1)) what=$2 process=$3
    shift 3
    until "$@" >/dev/null 2>&1; do
        if [ $SECONDS -ge $until ]; then
            # shellcheck disable=SC2086 # a host and a process
            show_logs $process >&2
            fail "bin/cluster: $what. The log above may say why. bin/cluster down removes everything."
        fi
        sleep 0.3
    done
}

# show_logs HOST [PROCESS]
show_logs() {
    local files
    mapfile -t files < <(compgen -G "$state/hosts/$1/log/${2:-*}.log")
    [ ${#files[@]} -gt 0 ] || fail "$1 has no log of ${2:-anything}. Its processes are: $(processes_of "$1")"
    tail -n 40 "${files[@]}"
}

kill_all() {
    local pids
    # Also those that were just forked.
    while pids=$(ip netns pids "selfie-$1") && [ -n "$pids" ]; do
        # shellcheck disable=SC2086 # one word a process
        kill -KILL $pids 2>/dev/null || true
        sleep 0.1
    done
}
