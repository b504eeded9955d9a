#!/usr/bin/env python3
"""Follows the objects of an entity over HTTP: follow.py URL ENTITY. Needs httpx-sse."""
import sys, time, httpx, httpx_sse
url, entity, last = sys.argv[1], sys.argv[2], None
while True:
    try:
        headers = {"Last-Event-ID": last} if last else {}
        with httpx.Client(timeout=45) as client, httpx_sse.connect_sse(
                client, "GET", url + "/v1/live", params={"entity": entity}, headers=headers) as source:
            for event in source.iter_sse():
                last = event.id or last
                if event.event in ("snapshot", "commit"): print(event.data, flush=True)
    except httpx.TransportError:
        time.sleep(0.2)
