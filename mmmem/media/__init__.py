"""Images on their way in: data URLs to bytes, and bytes to pixels, with all their limits. The bytes are never changed."""
