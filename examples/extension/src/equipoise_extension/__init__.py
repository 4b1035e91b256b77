"""Parts of one's own for Equipoise, one file each; none of them is registered anywhere."""
