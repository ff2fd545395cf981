"""What the parts of a formula mean: sizes, products, functions, sums that must agree."""
