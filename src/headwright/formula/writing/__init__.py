"""From the tree to text: the notations, and the writer that sets brackets."""
