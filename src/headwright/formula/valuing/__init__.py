"""Values in ball arithmetic: numbers, functions, comparisons that are certain."""
