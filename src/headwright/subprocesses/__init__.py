"""Worker processes with limits on time and memory, which exchange JSON; used by check and the lab."""
