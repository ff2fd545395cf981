"""Check: read an answer, and prove it or refute it with the smallest counterexample.

exercises/   the exercises, as data
exercise     what such a file says
sheet        an answer sheet in Markdown: which formulas answer which exercise, and where they stand
checker      one answer: read, bound to its names, every statement decided
scalars/     exact algebra and proofs about numbers with parameters
matrices/    exact algebra and proofs about matrices of any size
verdict      what is said of an answer
run          many answers, in parallel, each within its time
report       the verdicts as a page
gradescope   the verdicts as an autograder's results
"""
