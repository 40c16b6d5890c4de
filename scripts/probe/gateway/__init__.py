"""A guarded way to one model for agents that bring their own client."""
