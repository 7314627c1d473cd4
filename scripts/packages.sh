# What the scripts do with the system's own package manager. To be read by `.`, as sh.

# Where the system gets Debian's own packages from, by its own configuration; nothing where it gets them from nowhere.
debian_archive() {
    # shellcheck disable=SC2016 # fields of apt, not of the shell
    apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        sed -n 's/^Debian|//p' | head -n 1
}

# Runs a command of the package manager, and again while another one holds its lock: PACKAGES_WAIT seconds, ten minutes where
# it is not set. Machines that have just started install updates of their own.
when_free() {
    said=$(mktemp)
    waited=0
    while :; do
        status=0
        LC_ALL=C "$@" >"$said" 2>&1 || status=$?
        # Status 100 stands for every error; only the words tell a lock.
        if [ "$status" -eq 0 ] || ! grep -q -e 'Could not get lock' -e 'Unable to acquire the dpkg' -e 'Unable to lock' "$said"; then
            break
        fi
        if [ "$waited" -ge "${PACKAGES_WAIT:-600}" ]; then
            printf 'the package manager is in use by another program; come again when it is done\n' >&2
            break
        fi
        [ "$waited" -ne 0 ] || printf 'waiting for the package manager, which another program uses\n' >&2
        sleep 1
        waited=$((waited + 1))
    done
    cat "$said" >&2
    rm -f "$said"
    return "$status"
}
