"""What was handed in: sheets cut into blocks and formulas, each with its place.

files       text that others wrote, read within bounds and made safe to show
html_text   the text of an HTML page, as editors of Moodle and Canvas write it
classes     the files of a class, in folders and in zips of Canvas and Moodle
outline     the sections of a document: what each asks, and what it answers
document    which section answers which exercise
sheet       an answer sheet as data
"""
