"""Models behind one client: requests, pacing, cache, money, validated answers."""
