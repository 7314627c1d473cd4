#!/bin/sh
# A virtual machine of the project's own, for what must not be done to a machine that somebody works on: kernels across reboots, disks that
# are formatted, power that is cut. Debian with two kernels under GRUB, a second disk that is blank, PostgreSQL, an NFS server, and the
# tools of ext2 to ext4, xfs, btrfs, jfs and reiserfs.
#
#   machine.sh make            makes its disks in target/machine (needs root, Debian's packages, and 10 minutes); nothing where they are there
#   machine.sh start           starts it, and returns once it answers
#   machine.sh sh COMMAND...   runs a command in it, as root
#   machine.sh put FILE PLACE  copies a file or folder into it
#   machine.sh get PLACE FILE  copies one out of it
#   machine.sh wait BOOT       returns once it answers with another start's mark than BOOT (/proc/sys/kernel/random/boot_id)
#   machine.sh cut             cuts its power (SIGKILL of the emulator): what was not on its disks is lost
#   machine.sh stop            shuts it down; cuts its power where it does not end within a minute
#
# It sees no network: only its SSH server is reached, at a port of 127.0.0.1 (MACHINE_PORT, 54922). MACHINE_EXTRA names more packages
# for `make`, MACHINE_MEMORY its memory in MiB (3072), MACHINE_FOLDER the folder of another one.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
here=${MACHINE_FOLDER:-$root/target/machine}
tree="$here/tree" disk="$here/disk.img" blank="$here/blank.img" key="$here/key" pid="$here/pid" console="$here/console.log"
port=${MACHINE_PORT:-54922}
release=bookworm
packages="linux-image-amd64 zstd grub-pc systemd-sysv udev openssh-server kmod procps psmisc util-linux fdisk
    e2fsprogs xfsprogs btrfs-progs jfsutils reiserfsprogs postgresql nfs-kernel-server nfs-common fuse3 python3-minimal ${MACHINE_EXTRA:-}"

say() { printf 'machine: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
inside() { chroot "$tree" env DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }

# Debian in a folder, with its packages.
make_tree() {
    archive=$(debian_archive)
    [ -n "$archive" ] || die "this system gets no packages from Debian"
    rm -rf "$tree"
    say "installing Debian $release"
    debootstrap --variant=minbase --include=ca-certificates "$release" "$tree" "$archive" >"$here/debootstrap.log" 2>&1 ||
        die "debootstrap failed: see $here/debootstrap.log"
    for suite in "$release" "$release-updates" "$release-backports"; do echo "deb $archive $suite main"; done >"$tree/etc/apt/sources.list"
    # Nothing is started, and no cluster is made, while packages are installed.
    printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
    chmod 755 "$tree/usr/sbin/policy-rc.d"
    mkdir -p "$tree/etc/postgresql-common"
    printf 'create_main_cluster = false\nstart_conf = manual\n' >"$tree/etc/postgresql-common/createcluster.conf"
    say "installing kernels, servers and tools"
    {
        inside apt-get -q update
        # shellcheck disable=SC2086 # one word per package
        inside apt-get -q -y --no-install-recommends install $packages &&
            inside apt-get -q -y --no-install-recommends install "linux-image-amd64/$release-backports"
    } >"$here/packages.log" 2>&1 || die "packages could not be installed: see $here/packages.log"
    inside apt-get clean
    rm "$tree/usr/sbin/policy-rc.d"
}

# What a machine has of its own.
set_up() {
    [ -f "$key" ] || ssh-keygen -q -t ed25519 -N '' -C machine -f "$key"
    mkdir -p "$tree/root/.ssh" "$tree/etc/ssh/sshd_config.d"
    cp "$key.pub" "$tree/root/.ssh/authorized_keys"
    chmod 700 "$tree/root/.ssh"
    echo 'PasswordAuthentication no' >"$tree/etc/ssh/sshd_config.d/machine.conf"
    echo machine >"$tree/etc/hostname"
    echo '127.0.0.1 localhost machine' >"$tree/etc/hosts"
    echo 'LABEL=machine / ext4 errors=remount-ro 0 1' >"$tree/etc/fstab"
    printf '[Match]\nName=e*\n[Network]\nDHCP=ipv4\n' >"$tree/etc/systemd/network/all.network"
    inside systemctl -q enable systemd-networkd ssh
    cat >"$tree/etc/default/grub" <<'END'
GRUB_DEFAULT=0
GRUB_TIMEOUT=1
GRUB_CMDLINE_LINUX="console=ttyS0"
GRUB_TERMINAL="console serial"
END
}

# GRUB is installed by the machine itself, which is started without it for that.
install_grub() {
    kernel=$(ls "$tree"/boot/vmlinuz-* | sort -V | tail -n 1)
    run -kernel "$kernel" -initrd "$(echo "$kernel" | sed 's/vmlinuz/initrd.img/')" -append 'root=LABEL=machine console=ttyS0'
    answers
    in_it 'grub-install /dev/vda && update-grub' >"$here/grub.log" 2>&1 || die "GRUB could not be installed: see $here/grub.log"
    stop
}

make_it() {
    [ ! -f "$here/made" ] || return 0
    [ "$(id -u)" = 0 ] || die "needs root"
    mkdir -p "$here"
    for tool in qemu-system-x86_64:qemu-system-x86 debootstrap:debootstrap sfdisk:fdisk ssh:openssh-client; do
        command -v "${tool%%:*}" >/dev/null || when_free apt-get -q -y --no-install-recommends install "${tool#*:}"
    done
    [ -f "$here/tree.made" ] || make_tree
    touch "$here/tree.made"
    set_up
    rm -f "$disk" "$blank"
    say "writing the disk"
    truncate -s 8G "$disk"
    truncate -s 3G "$blank"
    echo 'start=2048, type=83, bootable' | sfdisk -q "$disk"
    mkfs.ext4 -q -L machine -d "$tree" -E offset=1048576 "$disk" $((8 * 1024 - 1))M
    install_grub
    touch "$here/made"
    rm -rf "$tree" "$here/tree.made"
    say "made"
}

# By its command line, which has its disk: a number may be another process's by now, and one that has ended and waits for its parent has none.
is_up() { [ -f "$pid" ] && tr '\0' ' ' 2>/dev/null <"/proc/$(cat "$pid")/cmdline" | grep -q "^qemu-system-x86_64 .*$disk"; }

# The emulator. KVM runs a kernel of Debian's where the processor's own virtualisation is behind it; where another virtual machine lends it
# by software (kvm_pvm), only kernels made for that run, and instructions are translated instead (TCG: ten times slower, and more).
run() {
    ! is_up || die "it is running"
    how=tcg,thread=multi processor=Nehalem
    if [ -w /dev/kvm ] && [ ! -d /sys/module/kvm_pvm ]; then how=kvm processor=host; fi
    # Its own write cache is the host's: what it has synced is with the host, and lasts when the emulator is killed.
    setsid qemu-system-x86_64 -accel "$how" -cpu "$processor" -smp 2 -m "${MACHINE_MEMORY:-3072}" -display none -monitor none \
        -serial "file:$console" -pidfile "$pid" -no-user-config -nodefaults -device virtio-rng-pci \
        -drive "file=$disk,format=raw,if=virtio,cache=writeback" -drive "file=$blank,format=raw,if=virtio,cache=writeback" \
        -netdev "user,id=n,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22" -device virtio-net-pci,netdev=n \
        "$@" >"$here/emulator.log" 2>&1 </dev/null &
}

# Options of ssh and scp, which name their port differently.
options="-i $key -o BatchMode=yes -o ConnectTimeout=5 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR
    -o ServerAliveInterval=5 -o ServerAliveCountMax=6"
# shellcheck disable=SC2086 # one word per option
in_it() { ssh $options -p "$port" root@127.0.0.1 "$@"; }
# shellcheck disable=SC2086
copy() { scp $options -P "$port" -q -r "$@"; }

# Returns once it answers with another mark than this one.
answers() {
    tries=0
    until mark=$(in_it cat /proc/sys/kernel/random/boot_id 2>/dev/null) && [ "$mark" != "${1:-}" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || die "it does not answer: see $console"
        is_up || [ $tries -lt 5 ] || die "it has ended: see $here/emulator.log and $console"
        sleep 1
    done
}

ended() {
    tries=0
    while is_up; do
        tries=$((tries + 1))
        [ $tries -lt 60 ] || return 1
        sleep 1
    done
    rm -f "$pid"
}

power_off() {
    ! is_up || kill -9 "$(cat "$pid")"
    ended || die "the emulator does not end"
}

stop() {
    is_up || return 0
    in_it systemctl poweroff >/dev/null 2>&1 || true
    ended || power_off
}

case ${1:-} in
make) make_it ;;
start) [ -f "$here/made" ] || die "make it first"; run; answers ;;
sh) shift; in_it "$@" ;;
put) copy "$2" "root@127.0.0.1:$3" ;;
get) copy "root@127.0.0.1:$2" "$3" ;;
wait) answers "${2:-}" ;;
cut) power_off ;;
stop) stop ;;
*) die "what? make, start, sh, put, get, wait, cut or stop" ;;
esac
