"""What is published: built, looked into, installed into an empty environment, and tried from there."""
