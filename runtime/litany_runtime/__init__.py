"""What runs a program: policy, confinement, the wire, the zygote, the child, the supervisor."""
