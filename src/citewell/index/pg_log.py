"""The store on PostgreSQL: the query log."""

from __future__ import annotations

import json
from dataclasses import asdict

from citewell.index.db import Database, run
from citewell.index.store import LoggedQuery


class PgLog:
    db: Database

    async def log_query(self, query: LoggedQuery, *, keep_days: int) -> None:
        answer = query.answer
        values = {
            "trace_id": answer.trace_id,
            "question": query.question,
            "libraries": list(query.libraries),
            "status": answer.status,
            "reason": answer.reason,
            "route": answer.route,
            "protocol": answer.protocol,
            "escalated": answer.escalated,
            "read": list(query.read),
            "cited": list(query.cited),
            "usage": json.dumps(asdict(answer.usage)),
            "warnings": list(query.warnings),
            "keep_days": keep_days,
        }
        async with self.db.transaction(durable=False) as connection:
            await run(connection, "log_query", values)
