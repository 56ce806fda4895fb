"""The tools scripts and models may call: the registry, the gate every call passes, and our four file tools."""
