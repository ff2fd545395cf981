"""From the source to the tree: words, lines, then terms and statements."""
