"""What people do, in a real browser against a real instance."""
