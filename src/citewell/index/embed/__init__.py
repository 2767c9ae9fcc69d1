"""Texts to vectors: the protocol, the packaged model, and endpoints that speak OpenAI's protocol."""

from citewell.index.embed.base import Embedder, embedding_input, input_hash, vector_literal
from citewell.index.embed.choice import check_embedder, chosen, mismatch
from citewell.index.embed.minilm import MiniLM, verify_weights, weights_folder
from citewell.index.embed.openai_compat import Endpoint, OpenAICompat

__all__ = [
    "Embedder",
    "Endpoint",
    "MiniLM",
    "OpenAICompat",
    "check_embedder",
    "chosen",
    "embedding_input",
    "input_hash",
    "mismatch",
    "vector_literal",
    "verify_weights",
    "weights_folder",
]
