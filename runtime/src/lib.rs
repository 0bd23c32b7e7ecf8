//! Typed Model Context Protocol servers whose every message is checked before it is sent.
