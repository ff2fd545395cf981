"""Verify a certificate of any format, and compare it with what was asked.

verify         verify(): reads the format of a certificate and chooses its checker
compare        compare(): whether a certificate is about what was asked
compare_keys   the same of one about keys
compare_heads  the same of one about whole heads or a circuit
comparison     what is expected of a certificate, and the differences
"""
