"""From the source to the tree: words (spellings, signs, letters, commands, layout), then the grammar, part by part."""
