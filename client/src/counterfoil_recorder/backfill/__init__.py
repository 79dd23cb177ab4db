"""Sending what was recorded before there was a store: `counterfoil-backfill FILE...`."""
