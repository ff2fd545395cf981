from .auditor import Audit, AuditOptions, audit

__all__ = ["Audit", "AuditOptions", "audit"]
