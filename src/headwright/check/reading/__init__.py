"""Reading: from the text of an answer, words and formulas mixed, to statements with a role and a scope."""
