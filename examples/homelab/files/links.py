#!/usr/bin/python3
"""The family's list of links. `links.py serve` shows it, `links.py digest` mails what is new."""

import os
import subprocess
import sys
from contextlib import closing
from email.message import EmailMessage
from html import escape
from pathlib import Path
from urllib.parse import parse_qs
from wsgiref.simple_server import make_server

import psycopg2

PAGE = """<!doctype html><meta charset="utf-8"><title>Links</title><h1>Links</h1>
<form method="post"><input type="url" name="url" size="60" required> <button>Add</button></form>
<ul>{items}</ul><p>Kept at {server}."""


def run(sql, *values):
    # PGHOST, PGUSER and PGDATABASE come from the unit. One connection a request: the database
    # is on another machine, and may come and go without this program being told.
    password = Path(os.environ["CREDENTIALS_DIRECTORY"], "database-password").read_text().strip()
    with closing(psycopg2.connect(password=password, connect_timeout=5)) as db, db, db.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS link (url text PRIMARY KEY, added timestamptz NOT NULL DEFAULT now())"
        )
        cursor.execute(sql, values)
        return cursor.fetchall() if cursor.description else []


def application(environ, start_response):
    html = [("Content-Type", "text/html; charset=utf-8")]
    try:
        if environ["REQUEST_METHOD"] == "POST":
            size = min(int(environ.get("CONTENT_LENGTH") or 0), 4096)
            form = parse_qs(environ["wsgi.input"].read(size).decode("utf-8", "replace"))
            url = form.get("url", [""])[0]
            if url.startswith(("https://", "http://")):
                run("INSERT INTO link (url) VALUES (%s) ON CONFLICT DO NOTHING", url)
            start_response("303 See Other", [("Location", "/")])
            return []
        rows = run("SELECT url FROM link ORDER BY added DESC LIMIT 200")
        ((server,),) = run("SELECT host(inet_server_addr())")
    except psycopg2.OperationalError:
        start_response("503 Service Unavailable", html)
        return [b"<p>The database is out of reach. Try again in a while."]
    items = "".join(f'<li><a href="{escape(url)}">{escape(url)}</a>' for (url,) in rows)
    start_response("200 OK", html)
    return [PAGE.format(items=items, server=server).encode()]


def digest():
    rows = run("SELECT url FROM link WHERE added > now() - interval '1 day' ORDER BY added")
    if not rows:
        return
    message = EmailMessage()
    message["From"] = "links@example.org"
    message["To"] = os.environ["LINKS_MAIL_TO"]
    message["Subject"] = f"{len(rows)} new on the list"
    message.set_content("\n".join(url for (url,) in rows))
    subprocess.run(["/usr/sbin/sendmail", "-t"], input=message.as_bytes(), check=True)


if sys.argv[1:] == ["digest"]:
    digest()
elif sys.argv[1:] == ["serve"]:
    make_server("0.0.0.0", 8080, application).serve_forever()
else:
    sys.exit("usage: links.py serve | links.py digest")
