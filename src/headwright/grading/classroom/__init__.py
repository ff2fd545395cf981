"""A class: what each student earns, what a person still has to decide, and pages and tables of it.

room         students with their answers, and the marks of each
decisions    the file in which a lecturer decides what the checker left open
tables       points as CSV, for spreadsheets, Canvas, Moodle and Gradescope
pages        the class as a page, and a page of feedback for each student
"""
