"""What an application says itself, block by block: composed as its provider would write it."""
