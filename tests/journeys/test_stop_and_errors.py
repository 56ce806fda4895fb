"""Stopping, failing, hostile output, a lost connection."""

from __future__ import annotations

import json
import re
import signal
import time

from playwright.sync_api import expect

from tests.live import LiveForja

HOSTILE = r"""
console.log('\ud83d', 'a\u0000b', '\u001b[31mred\u001b[0m\u001b[r\u001b[?1003l', '\u202Efdp.exe', '\u2028');
console.log('<img src=x onerror=alert(1)> </script>');
console.error('</samp></pre><script>alert(2)</script>');
progress({ note: '\u001b]0;t\u0007<b>x</b>', completed: 1, total: 2 });
console.log('nothing is lost after it');
return { ['k\udc00']: 'v\u0000', html: '</textarea><svg onload=alert(1)>' };
"""


def test_a_running_script_is_stopped_and_the_end_is_confirmed(person):
    card = person.runs("for (;;) {}", "Endless")
    person.sees_status(card, "Running")
    card.get_by_role("button", name="Stop Endless").click()
    person.sees_status(card, "Cancelled")
    expect(card).to_contain_text(re.compile(r"Stopped by admin\. The end was confirmed .+ after it was asked for\."))
    expect(card.get_by_role("button", name="Stop Endless")).to_have_count(0)


def test_a_script_that_waits_for_a_tool_is_stopped_by_key(person):
    card = person.runs("await tools.fx_sleep({ ms: 60_000 })", "Asleep")
    person.sees_status(card, "Running")
    person.page.locator("h1").click()
    person.page.keyboard.press("j")
    person.page.keyboard.press("x")
    person.sees_status(card, "Cancelled")
    expect(card.locator('.call[data-status="cancelled"]')).to_have_count(1)


def test_an_error_shows_its_line_its_caret_and_what_to_do(person):
    card = person.runs("const totals = {};\nconst best = totals.north;\nreturn best.toUpperCase();", "Best")
    person.sees_status(card, "Failed")
    fault = person.part(card, "Error")
    expect(fault.locator(".fault-message")).to_contain_text("TypeError")
    expect(fault.locator(".line.at")).to_have_text(re.compile(r"return best\.toUpperCase"))
    expect(fault.locator(".line.pointer")).to_have_text(re.compile(r"^\s*\^\s*$"))
    expect(fault).to_contain_text("line 3")
    expect(fault).to_contain_text("What to do")
    fault.get_by_role("link", name="See it in the whole script").click()
    expect(person.page.locator("#L3:target")).to_be_visible()


def test_a_time_out_says_which_limit(person):
    person.page.locator("#composer-limits summary").click()
    person.page.get_by_label("Time, seconds").fill("0.3")
    card = person.runs("console.log('kept'); for (;;) {}", "Slow")
    person.sees_status(card, "Timed out")
    expect(card).to_contain_text("Stopped at its time limit of 300 ms (forge.javascript.timeoutMs).")
    expect(person.part(card, "Output")).to_contain_text("kept")


def test_hostile_output_is_shown_harmless_and_copied_as_it_was(person, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    dialogs = []
    person.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    person.sends(HOSTILE, "<b>Hostile</b>\u202e")
    card = person.page.locator("article.run").first
    expect(card.locator("h3")).to_have_text("<b>Hostile</b>U+202E")
    person.sees_the_end(card)
    person.sees_status(card, "Succeeded")
    output = person.part(card, "Output").locator("pre")
    expect(output).to_contain_text("ESC[31mred")
    expect(output).to_contain_text("U+202Efdp.exe")
    expect(output).to_contain_text("<img src=x onerror=alert(1)>")
    expect(output).to_contain_text("nothing is lost after it")
    expect(card.locator("img, script, .json svg")).to_have_count(0)
    card.get_by_role("button", name=re.compile("^Copy the value")).click()
    expect(person.page.locator('[data-toast="copied"]')).to_be_visible()
    copied = json.loads(person.asks("navigator.clipboard.readText()"))
    assert copied == {"k\udc00": "v\u0000", "html": "</textarea><svg onload=alert(1)>"}
    assert dialogs == []


def test_a_flood_of_calls_and_output_leaves_the_page_quick_and_small(person, live_forja):
    code = """
    for (let n = 0; n < 300_000; n++) console.log(`line ${n} of a very long log, written without a pause`);
    return "flooded";
    """
    card = person.runs(code, "Flood")
    slowest = 0.0
    while "flooded" not in card.inner_text():
        started = time.monotonic()
        person.asks("document.querySelectorAll('*').length")
        slowest = max(slowest, time.monotonic() - started)
    person.sees_status(card, "Succeeded")
    assert person.asks("document.querySelectorAll('*').length") < 3_000
    assert slowest < 1.0
    expect(person.part(card, "Output")).to_contain_text("characters in between are stored and not shown")


def test_a_folded_part_that_was_opened_stays_open_while_the_run_goes_on(person):
    card = person.runs(
        "for (let n = 0; n < 6; n++) { console.log(n); await tools.fx_sleep({ ms: 300 }); } return 1", "Open"
    )
    card.locator("details summary").click()
    person.sees_the_end(card)
    expect(card.locator("details").last).to_have_attribute("open", "")


def test_a_lost_connection_is_said_and_time_stands_still_until_the_true_end_comes(person, context):
    card = person.runs("await tools.fx_sleep({ ms: 7000 }); return 'the end'", "Offline")
    person.sees_status(card, "Running")
    expect(card.locator(".run-time")).to_have_text(re.compile("[1-9]\\.\\d s"))
    context.set_offline(True)
    banner = person.page.locator("#connection")
    expect(banner).to_be_visible(timeout=6_000)
    expect(banner).to_contain_text(re.compile(r"Connection lost\. What you see is as of \d\d:\d\d:\d\d"))
    frozen = card.locator(".run-time").inner_text()
    person.page.wait_for_timeout(1_500)
    assert card.locator(".run-time").inner_text() == frozen
    person.page.wait_for_timeout(5_000)
    context.set_offline(False)
    expect(banner).to_be_hidden(timeout=15_000)
    expect(card).to_contain_text("the end")
    seconds = float(card.locator(".run-time").inner_text().split()[0])
    assert 6.9 <= seconds < 8.5
    person.complaints[:] = [words for words in person.complaints if "ERR_INTERNET_DISCONNECTED" not in words]


def test_a_restart_of_the_server_is_survived_by_an_open_page(chromium, tmp_path):
    from tests.journeys.person import Person

    forja = LiveForja(tmp_path).start()
    try:
        context = chromium.new_context(base_url=forja.url, locale="en-GB")
        context.set_default_timeout(20_000)
        person = Person(context.new_page())
        person.signs_in(forja.sign_in_path())
        person.opens_session("Restart")
        card = person.runs("await tools.fx_sleep({ ms: 60_000 })", "Cut short")
        person.sees_status(card, "Running")
        forja.stop(signal.SIGTERM)
        expect(person.page.locator("#connection")).to_be_visible(timeout=6_000)
        forja.start()
        expect(card.locator(".run-head [role=status]")).to_have_text("Interrupted", timeout=30_000)
        expect(person.page.locator("#connection")).to_be_hidden(timeout=15_000)
        context.close()
    finally:
        forja.stop()


def test_where_no_socket_gets_through_the_page_asks_every_few_seconds(person):
    person.page.route_web_socket(re.compile("/ws/"), lambda socket: socket.close())
    person.page.reload()
    person.complaints.clear()
    person.sends("return 'by asking'", "Polled")
    expect(person.card("Polled")).to_contain_text("by asking", timeout=20_000)
    expect(person.page.locator("#connection")).to_contain_text("The page asks for news every few seconds instead")
    person.complaints[:] = [words for words in person.complaints if "WebSocket" not in words]
