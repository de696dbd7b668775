"""What every memcal program in Python shares: frames with their journal, and the frame of a provider adapter."""
