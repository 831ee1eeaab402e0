//! What the kernel waits for on behalf of a thread, by the functions on its stack.
//!
//! Names are those of Linux from 5.4 to 6.18; functions that only some of them have stand side by
//! side. What serves several purposes (`io_schedule`, `folio_wait_bit_common`, `rq_qos_wait`,
//! `blk_mq_get_tag`) stands in none of the lists: its caller decides.

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Io {
    /// That data is on the disk: `fsync` and its kin.
    Sync,
    /// That the disk has taken some of what was written before, so that more may be written: too
    /// much is dirty, a page is on its way, the file system's journal is full or commits.
    Writeback,
    /// That parts of a file come from the disk.
    Read,
    /// That memory comes back from swap.
    Swap,
    /// That memory is freed for it.
    Reclaim,
    /// That there is room in a pipe.
    Pipe,
    /// That a terminal has written.
    Terminal,
    /// That the reader of a Unix datagram socket has taken some of what waits for it, as a syslog daemon does.
    Datagram,
}

impl Io {
    /// Of two functions, the inner one first, which decides: the innermost, but writing back is part of
    /// syncing, of freeing memory and of reading.
    pub(crate) fn with_outer(self, outer: Option<Self>) -> Self {
        match outer {
            Some(outer) if self == Self::Writeback => outer,
            _ => self,
        }
    }
}

/// Functions of the kernel that wait for its own work: a grace period of RCU (`kernel/rcu`), or what its worker threads have in their
/// queues (`kernel/workqueue.c`), as `close` of an inotify instance does, the end of a namespace, or `membarrier`.
pub(super) const KERNEL_WORK: &[&str] = &[
    "synchronize_rcu",
    "synchronize_rcu_normal",
    "synchronize_rcu_expedited",
    "synchronize_srcu",
    "__synchronize_srcu",
    "__wait_rcu_gp",
    "rcu_barrier",
    "flush_work",
    "__flush_work",
    "__flush_workqueue",
    "flush_workqueue",
];

/// Functions by what they wait for (`fs/sync.c`, `fs/jbd2`, `mm/filemap.c`, `mm/page-writeback.c`,
/// `mm/memory.c`, `mm/vmscan.c`, `mm/memcontrol.c`, `fs/pipe.c`, `drivers/tty`, `net/unix/af_unix.c`).
const FUNCTIONS: &[(Io, &[&str])] = &[
    (
        Io::Sync,
        &[
            "do_fsync",
            "vfs_fsync_range",
            "__x64_sys_fsync",
            "__x64_sys_fdatasync",
            "__arm64_sys_fsync",
            "__arm64_sys_fdatasync",
            "__do_sys_msync",
            "__x64_sys_msync",
            "ksys_sync_file_range",
            "ksys_sync",
            "sync_filesystem",
            "file_write_and_wait_range",
            "ext4_sync_file",
            "xfs_file_fsync",
            "btrfs_sync_file",
            "f2fs_do_sync_file",
            "jbd2_log_wait_commit",
            "jbd2_complete_transaction",
            // XFS waits for its log by flushing a queue of work (`fs/xfs/xfs_log_cil.c`).
            "xfs_log_force",
            "xfs_log_force_seq",
            "xlog_cil_force_seq",
        ],
    ),
    (
        Io::Writeback,
        &[
            "balance_dirty_pages",
            "balance_dirty_pages_ratelimited",
            "balance_dirty_pages_ratelimited_flags",
            "folio_wait_writeback",
            "wait_on_page_writeback",
            "folio_wait_stable",
            "wait_for_stable_page",
            "start_this_handle",
            "add_transaction_credits",
            "wait_transaction_locked",
            "do_get_write_access",
            "xlog_grant_head_wait",
            "wbt_wait",
        ],
    ),
    (
        Io::Read,
        &[
            "filemap_read",
            "filemap_get_pages",
            "filemap_update_page",
            "filemap_read_folio",
            "filemap_fault",
            "filemap_splice_read",
            "generic_file_read_iter",
            "generic_file_buffered_read",
            "page_cache_ra_unbounded",
            "page_cache_sync_ra",
            "do_read_cache_folio",
            "ext4_mpage_readpages",
            // Reads that pass the page cache by (O_DIRECT).
            "ext4_dio_read_iter",
            "ext4_file_read_iter",
            "xfs_file_dio_read",
            "xfs_file_read_iter",
            "btrfs_file_read_iter",
            "f2fs_file_read_iter",
            "blkdev_read_iter",
            "__ext4_iget",
            "__ext4_find_entry",
        ],
    ),
    (
        Io::Swap,
        &[
            "do_swap_page",
            "swapin_readahead",
            "swap_read_folio",
            "swap_readpage",
            "shmem_swapin_folio",
        ],
    ),
    (
        Io::Reclaim,
        &[
            "try_to_free_pages",
            "__alloc_pages_direct_reclaim",
            "__alloc_pages_direct_compact",
            "try_to_free_mem_cgroup_pages",
            "try_charge_memcg",
            "mem_cgroup_handle_over_high",
            "__mem_cgroup_handle_over_high",
            "mem_cgroup_oom_synchronize",
            "mem_cgroup_out_of_memory",
            "shrink_node",
            "shrink_inactive_list",
            "shrink_folio_list",
            "shrink_page_list",
            "reclaim_throttle",
            "throttle_direct_reclaim",
        ],
    ),
    (
        Io::Pipe,
        &[
            "pipe_write",
            "anon_pipe_write",
            "fifo_pipe_write",
            "pipe_wait_writable",
        ],
    ),
    (
        Io::Terminal,
        &[
            "n_tty_write",
            "tty_write",
            "file_tty_write",
            "tty_wait_until_sent",
        ],
    ),
    (Io::Datagram, &["unix_dgram_sendmsg"]),
];

/// What a function of the kernel, without the endings that compilers add, waits for.
pub(crate) fn io_of(function: &str) -> Option<Io> {
    let known = FUNCTIONS
        .iter()
        .find(|(_, names)| names.contains(&function));
    known.map(|(io, _)| *io)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stack: &[&str]) -> Option<Io> {
        let known = stack.iter().filter_map(|function| io_of(function));
        known.fold(None, |inner: Option<Io>, outer| {
            Some(inner.map_or(outer, |inner| inner.with_outer(Some(outer))))
        })
    }

    #[test]
    fn the_innermost_function_that_serves_one_purpose_tells() {
        let sync = [
            "folio_wait_bit_common",
            "folio_wait_writeback",
            "ext4_sync_file",
            "do_fsync",
        ];
        let dirty = [
            "io_schedule_timeout",
            "balance_dirty_pages",
            "generic_perform_write",
        ];
        let fault = [
            "io_schedule",
            "folio_wait_bit_common",
            "filemap_fault",
            "__do_fault",
        ];
        let swap = ["folio_wait_bit_common", "do_swap_page", "handle_mm_fault"];
        let full = [
            "shrink_folio_list",
            "try_charge_memcg",
            "filemap_get_pages",
            "filemap_read",
        ];
        for (stack, io) in [
            (&sync[..], Some(Io::Sync)),
            (&dirty, Some(Io::Writeback)),
            (&fault, Some(Io::Read)),
            (&swap, Some(Io::Swap)),
            (&full, Some(Io::Reclaim)),
            (&["__iomap_dio_rw", "ext4_dio_read_iter"], Some(Io::Read)),
            (&["anon_pipe_write", "vfs_write"], Some(Io::Pipe)),
            (
                &["unix_wait_for_peer", "unix_dgram_sendmsg"],
                Some(Io::Datagram),
            ),
            (&["unix_wait_for_peer", "unix_stream_connect"], None),
            (&["futex_do_wait"], None),
        ] {
            assert_eq!(of(stack), io, "{stack:?}");
        }
    }

    #[test]
    fn no_function_serves_two_purposes() {
        for (io, names) in FUNCTIONS {
            assert!(names.iter().all(|name| io_of(name) == Some(*io)), "{io:?}");
        }
    }
}
