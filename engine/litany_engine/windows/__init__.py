"""An agent's transcript, the window that answers a reply, and what settles it after a death."""
