"""Many answers at once: processes with bounded time and memory, which exchange JSON."""
