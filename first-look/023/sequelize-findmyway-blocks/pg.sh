# pg.sh: as_pg FOLDER COMMAND...: becomes COMMAND as a user that PostgreSQL accepts (it refuses root)
as_pg() {
    folder=$1
    shift
    if [ "$(id -u)" != 0 ]; then
        exec "$@"
    fi
    chown -R postgres "$folder"
    if setpriv --reuid=postgres --regid=postgres --clear-groups test -x "$folder" 2>/dev/null; then
        exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
    fi
    chown -R root "$folder"
    exec unshare --user "$@"
}
