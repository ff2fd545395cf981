"""Models as an audit sees them: tokens in; queries, keys and values of each layer out."""

from headwright.audit.models.model import Circuits, Layer, Model

__all__ = ["Circuits", "Layer", "Model"]
