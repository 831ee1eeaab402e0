#!/bin/sh
# the SFTP server of the print partner: OpenSSH sshd with its internal-sftp
# usage: sshd.sh PORT TMP CACHE
set -e
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
cat > "$2/sshd_config" <<C
Port $1
ListenAddress 127.0.0.1
HostKey $3/host_key
AuthorizedKeysFile $3/user_key.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
AllowTcpForwarding no
X11Forwarding no
PrintMotd no
UseDNS no
MaxStartups 100:30:200
Subsystem sftp internal-sftp
LogLevel ${SSHD_LOG:-INFO}
C
exec /usr/sbin/sshd -D -e -f "$2/sshd_config"
