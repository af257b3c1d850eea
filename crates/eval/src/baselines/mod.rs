//! What the papers compare with: small, and for evaluation only.
