"""Compares board/markdown.js with markdown-it-py on random texts of the supported part. A failure prints its text."""
import html
import json
import pathlib
import random
import re
import subprocess

import markdown_it

HERE = pathlib.Path(__file__).resolve().parent
ORACLE = markdown_it.MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("strikethrough").disable(
    ["lheading", "image", "reference", "entity", "html_block", "html_inline", "code"])
WORDS = ["bean", "soak", "über", "水", "a_b", "x*y", "2*3", "don't", "(x)", "end.", "ا", "—", "100%"]


def inline(rng, depth=0):
    kind = rng.random()
    if depth > 2 or kind < 0.45:
        return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 3)))
    mark = rng.choice(["*", "**", "_", "__", "~~", "***"])
    if kind < 0.72:
        return mark + inline(rng, depth + 1) + mark
    if kind < 0.8:
        return "`" + rng.choice(["let a", "<b>", "a*b*", "`` ` ``", "x"]).replace("`", "") + "`"
    if kind < 0.88:
        return "[" + inline(rng, depth + 2) + "](https://a.b/" + rng.choice(["", "c_d", "e?f=1&g", "(h)"]) + ")"
    if kind < 0.92:
        return "\\" + rng.choice("*_`[#")
    return rng.choice(["*", "_", "**", "`", "[", "]", "~~", "* ", "a _"]) + inline(rng, depth + 1)


def block(rng, depth=0):
    kind = rng.random()
    if kind < 0.35 or depth > 2:
        return "\n".join(inline(rng) for _ in range(rng.randint(1, 3)))
    if kind < 0.5:
        return "#" * rng.randint(1, 6) + " " + inline(rng)
    if kind < 0.58:
        return "```\n" + rng.choice(["a\n  b", "<x>", "- no", ""]) + "\n```"
    if kind < 0.66:
        return "\n".join("> " + line for line in block(rng, depth + 1).split("\n"))
    if kind < 0.7:
        return "---"
    numbered, start = rng.random() < 0.4, rng.randint(1, 9)
    rows = []
    for i in range(rng.randint(1, 4)):
        mark = f"{start + i}. " if numbered else "- "
        lines = (inline(rng) + (("\n" + block(rng, depth + 2)) if rng.random() < 0.2 else "")).split("\n")
        rows.append(mark + ("\n" + " " * len(mark)).join(lines))
    return "\n".join(rows)


def normal(text):
    text = re.sub(r'<code class="[^"]*">', "<code>", text)
    text = re.sub(r"<br\s*/?>", "<br>", text).replace("<hr />", "<hr>")
    while True:
        # Lists are always tight here: a paragraph in an item is its text.
        tight = re.sub(r"<li>\s*<p>((?:(?!</?p>).)*)</p>", r"<li>\1", text, flags=re.S)
        if tight == text:
            break
        text = tight
    text = re.sub(r"\s*\n\s*(?=<)|(?<=>)\s*\n\s*", "", text)
    # Bare addresses are links here, and text there.
    text = re.sub(r'<a href="([^"]*)">\1</a>', r"\1", text)
    text = re.sub(r"<code>([^<]*)</code>", lambda m: "<code>" + re.sub(" +", " ", m[1]) + "</code>", text)
    return html.unescape(text).replace("\n</code>", "</code>")


def test_oracle():
    rng = random.Random(20261)
    texts = ["\n\n".join(block(rng) for _ in range(rng.randint(1, 3))) for _ in range(4000)]
    # The dialects differ in more than two tildes; a link to a relative address stays text here.
    texts = [t for t in texts if "~~~" not in t and "](x)" not in t]
    run = subprocess.run(["node", str(HERE.parent / "markdown-html.mjs")], input="\n".join(map(json.dumps, texts)) + "\n",
                         capture_output=True, text=True, check=True)
    ours = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(ours) == len(texts)
    wrong = []
    for text, mine in zip(texts, ours):
        if normal(mine) != normal(ORACLE.render(text)):
            wrong.append((len(text), text, normal(mine), normal(ORACLE.render(text))))
    wrong.sort()
    shown = "\n\n".join(f"{t!r}\n ours   {m}\n oracle {o}" for _, t, m, o in wrong[:12])
    assert not wrong, f"{len(wrong)} of {len(texts)} differ:\n{shown}"
