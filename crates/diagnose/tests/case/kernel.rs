//! Waits in the kernel: their names in cases, and where a thread stands in them.

use slowpath_core::trace::Call;

use super::script::By;

/// A wait in the kernel.
pub(super) struct Stall {
    /// Its functions, innermost first.
    pub(super) stack: &'static str,
    /// The call, if it is one that tracing watches.
    pub(super) call: Option<Call>,
    /// Who ends it.
    pub(super) by: By,
    /// Whether only that ends it.
    pub(super) uninterruptible: bool,
}

const fn disk(stack: &'static str) -> Stall {
    Stall {
        stack,
        call: None,
        by: By::Hardirq,
        uninterruptible: true,
    }
}

/// Where a thread stands in a wait of that name; `None` if it is no wait in the kernel. After a colon
/// stands what it writes to.
pub(super) fn stall(name: &str) -> Option<Stall> {
    Some(match name.split(':').next().unwrap_or(name) {
        "fsync" => Stall {
            call: Some(Call::Sync),
            ..disk("io_schedule folio_wait_bit_common folio_wait_writeback ext4_sync_file do_fsync")
        },
        "dirty" => disk("io_schedule_timeout balance_dirty_pages generic_perform_write vfs_write"),
        "page-read" => {
            disk("io_schedule folio_wait_bit_common filemap_update_page filemap_read vfs_read")
        }
        "page-fault" => disk("io_schedule folio_wait_bit_common filemap_fault __do_fault"),
        "swap-in" => disk("io_schedule folio_wait_bit_common do_swap_page handle_mm_fault"),
        "reclaim" => disk("shrink_folio_list try_to_free_mem_cgroup_pages try_charge_memcg"),
        "device" => disk("wait_for_completion some_driver_ioctl"),
        "terminal" => Stall {
            by: By::Thread(super::acts::OTHER),
            uninterruptible: false,
            ..disk("n_tty_write file_tty_write ksys_write")
        },
        "pipe" => Stall {
            by: By::Thread(super::acts::OTHER),
            uninterruptible: false,
            ..disk("anon_pipe_write vfs_write ksys_write")
        },
        "poll-timer" => Stall {
            call: Some(Call::Poll),
            uninterruptible: false,
            ..disk("schedule_hrtimeout_range poll_schedule_timeout do_sys_poll")
        },
        _ => return None,
    })
}
