"""The HTTP surface: the only place that knows HTTP. It validates, translates, and calls the MemoryService."""
