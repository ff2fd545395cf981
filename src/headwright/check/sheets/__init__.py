"""What was handed in: sheets cut into blocks and formulas, each with its place."""
