#!/bin/bash
# start-volume.sh PORT TMP SERVER MB: the inbox on an ext4 volume of its own (small journal), to which a backup of MB is written too
mkdir -p $2/vol; truncate -s 600M $2/vol.img
mkfs.ext4 -q -F -J size=4 $2/vol.img || exit 1
exec unshare -m bash -c '
mount --make-rprivate /
dev=$(losetup --find --show $2/vol.img) && mount $dev $2/vol || exit 1
mkdir $2/vol/inbox
$3 $1 $2/vol/inbox & app=$!
( [ $4 = 0 ] && exit; sleep 1; while sleep 0.3; do dd if=/dev/zero of=$2/vol/backup bs=1M count=$4 conv=fsync status=none; done ) & backup=$!
trap "kill -TERM \$app 2>/dev/null" TERM INT
while kill -0 $app 2>/dev/null; do wait $app; done
kill $backup $(cat /proc/$backup/task/$backup/children) 2>/dev/null; wait; umount $2/vol || umount -l $2/vol; losetup -d $dev; rm -f $2/vol.img' run "$@"
