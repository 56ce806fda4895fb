"""Sentences that are stored in English, marked so that translators see them; `sandboxes` itself knows no languages."""

from __future__ import annotations

from django.utils.translation import gettext_noop

HINTS = (
    gettext_noop("Ask whoever runs Forja to look at the server log."),
    gettext_noop("Correct the named field and send the request again."),
    gettext_noop("Send `Authorization: Bearer TOKEN`, or sign in on the page."),
    gettext_noop("Ask an admin for the role this needs."),
    gettext_noop("An admin can switch it on by its `.enabled` key in config.json."),
    gettext_noop("Check the id and whose it is."),
    gettext_noop("Read the current state and decide again."),
    gettext_noop("The run has ended; its result stands."),
    gettext_noop("Send less: keep data in files and read it with tools."),
    gettext_noop("Send `Content-Type: application/json`."),
    gettext_noop("Wait for the seconds in Retry-After, then send it again."),
    gettext_noop("Wait for runs to end, or cancel queued ones."),
    gettext_noop("Mend the named configuration file; nothing runs until it is valid."),
    gettext_noop("Run `make setup`, which builds the engine, then try again."),
    gettext_noop("Correct the marked line."),
    gettext_noop("Simplify the script: the engine could not compile it."),
    gettext_noop("Correct the marked line, or catch the error where it can happen."),
    gettext_noop("Await every promise, or add a catch to it."),
    gettext_noop("Await every tools.call before the script returns."),
    gettext_noop("Find the `await` whose promise nothing resolves: resolve it in the script, or await a tools.call."),
    gettext_noop("Return plain JSON: objects, arrays, strings, numbers, booleans or null."),
    gettext_noop("Return a summary, or write the data to a file and return its path."),
    gettext_noop("Keep less in `state`; large data belongs in the scratchpad."),
    gettext_noop("Run it again: another run changed the same key meanwhile."),
    gettext_noop("Keep only plain JSON in `state`."),
    gettext_noop("Do less per run; a timeoutMs below the configured limit can be raised up to it."),
    gettext_noop("Hold less at once: work in pieces and keep only what you need."),
    gettext_noop("Turn the recursion into a loop."),
    gettext_noop("Print less; return a summary."),
    gettext_noop("Write less, or remove files that are not needed."),
    gettext_noop("Start fewer processes."),
    gettext_noop("Do less per run."),
    gettext_noop("Empty the scratchpad or write less; nothing was written."),
    gettext_noop("Catch it in the script, or correct the arguments."),
    gettext_noop("`tools.list()` names the tools there are."),
    gettext_noop("Do its work in this script: no script can call this tool."),
    gettext_noop("A script cannot ask: have an admin add the tool to permissions.allow in config.json."),
    gettext_noop("Ask again: nobody answered in time and nothing ran."),
    gettext_noop("The permissions of this server or project deny it."),
    gettext_noop("Only hosts on the allow-list can be reached."),
    gettext_noop("Make fewer calls: filter first, or read several things with one call."),
    gettext_noop("The tool's server answered out of protocol; look at its log."),
    gettext_noop("The tool took too long; ask it for less."),
    gettext_noop("The tool's server is down; try again, or do without it."),
    gettext_noop("Ask the tool for less: use limits, offsets or a narrower path."),
    gettext_noop("Delete the built engine and run the set-up again."),
    gettext_noop("Use js_run instead: its backend is part of Forja."),
    gettext_noop("The engine's process was ended from outside; run it again."),
    gettext_noop("Nothing is run again by itself; start it again if its effects allow."),
    gettext_noop("It was stopped on request."),
)

SENTENCES = (
    gettext_noop("Ask an admin for the role `user`."),
    gettext_noop("There is no such token of yours."),
    gettext_noop("It may have been revoked already."),
    gettext_noop("Leave it out for a token without end."),
    gettext_noop("Revoke those that nothing uses any more."),
    gettext_noop("none"),
    gettext_noop("none from the script"),
    gettext_noop(
        "the WebAssembly module imports one function of Forja's and nothing of the system: there is no socket to open"
    ),
    gettext_noop(
        "the WebAssembly module imports one function of Forja's and nothing of the system: there is no file to open"
    ),
    gettext_noop(
        "the WebAssembly module imports one function of Forja's and nothing of the system: nothing can be started"
    ),
    gettext_noop(
        "the WebAssembly module imports one function of Forja's and nothing of the system: no variables, no "
        "host clock, no random source"
    ),
    gettext_noop(
        "the WebAssembly module imports one function of Forja's and nothing of the system: no variables, no "
        "host clock, no random source; the child process itself starts with an empty environment"
    ),
    gettext_noop(
        "the WebAssembly module imports one function of Forja's and nothing of the system; no system-call "
        "filter is put around the engine itself"
    ),
    gettext_noop("QuickJS refuses allocations above the heap limit; WebAssembly's memory has a hard ceiling above it"),
    gettext_noop("at most one core, for at most the time limit"),
    gettext_noop("a VM has one thread; its share of that core is not limited"),
    gettext_noop("an epoch check in the compiled code traps the script wherever it is"),
    gettext_noop(
        "an epoch check in the compiled code traps the script wherever it is; the child process is killed if "
        "it does not confirm"
    ),
    gettext_noop("counted outside the VM; what is beyond is dropped and counted"),
    gettext_noop("js_run always runs on QuickJS in WebAssembly, in a child process kept ready for it"),
    gettext_noop("js_run always runs on QuickJS in WebAssembly, in a thread of the worker, as configured"),
    gettext_noop("execute always runs on QuickJS in WebAssembly, in a child process kept ready for it"),
    gettext_noop("execute always runs on QuickJS in WebAssembly, in a thread of the worker, as configured"),
    gettext_noop("There are no timers and no pauses in js_run: leave the wait out, and await the tool call itself."),
    gettext_noop("A script has no network."),
    gettext_noop("Files and the network are reached through tools: `tools.list()` names them."),
    gettext_noop("There is no Node.js here: no modules, no files, no environment."),
    gettext_noop("`args` holds what the caller passed."),
    gettext_noop("There is no browser here: no page, no DOM. Return the value or print it with console.log."),
    gettext_noop("There is no Intl: format numbers and dates by hand."),
    gettext_noop("There is no Buffer: use Uint8Array with TextEncoder/TextDecoder, atob/btoa for base64."),
    gettext_noop("There is no performance clock: `Date.now()` stands still between calls."),
    gettext_noop(
        "There is no crypto: let a tool make what must be unique or secret; Math.random repeats with its seed."
    ),
    gettext_noop("There are no threads: run calls in parallel with Promise.all."),
    gettext_noop("WebAssembly is not available inside a script."),
    gettext_noop("`state` is switched off here: return what you want to keep."),
    gettext_noop("Print with console.log; give the result with return."),
    gettext_noop("There is no input: what the caller passed is in `args`."),
    gettext_noop("This looks like Python: write null."),
    gettext_noop("This looks like Python: write true."),
    gettext_noop("This looks like Python: write false."),
    gettext_noop(
        "Beyond the language itself there are: tools, progress, state, args, console, structuredClone, "
        "TextEncoder, TextDecoder, atob, btoa, URL, URLSearchParams."
    ),
    gettext_noop("A let or const is used before the line that declares it: move the declaration up."),
    gettext_noop("Check what the value is with console.log(typeof value, value)."),
    gettext_noop("The object contains itself: build plain data without the link back."),
    gettext_noop(
        "The text is not JSON: look at its first characters with console.log(text.slice(0, 200)) before parsing it."
    ),
    gettext_noop("There are no modules to import."),
    gettext_noop(
        "`await` takes the whole expression: write `(await tools.call(…)).key`, or keep the result in a variable."
    ),
    gettext_noop("The code is the body of an async function: remove export and end with return."),
    gettext_noop(
        "`await` needs an async function: write `async` before the function that holds this line, and await "
        "it where it is called."
    ),
    gettext_noop("The code ends too early: a bracket, brace or parenthesis is not closed, or one is closed twice."),
    gettext_noop("A string or template is not closed: check its quotes."),
    gettext_noop("The name is declared twice in the same scope: rename one of them."),
    gettext_noop(
        "Something is missing or too much just before the marked column: an operator, a comma, a bracket, a quote."
    ),
    gettext_noop(
        "This looks like a shell command. js_run takes JavaScript and has no shell: call a tool instead, for "
        "example `return await tools.call('list_files', {})`."
    ),
    gettext_noop("This looks like Python. js_run takes JavaScript: write it in JavaScript."),
    gettext_noop("This looks like SQL. js_run takes JavaScript: call a tool that takes the query."),
    gettext_noop("Send plain JavaScript: remove type annotations."),
    gettext_noop("This looks like HTML. js_run takes JavaScript: put markup inside a string."),
    gettext_noop("This is data, not a script. Write `return` before it, or pass it as args."),
    gettext_noop(
        "This looks like prose. js_run takes only JavaScript: send the code alone, without the text around it."
    ),
    gettext_noop("Send a script: the body of an async function that ends with `return`."),
    gettext_noop("Write the body of an async function: plain statements, `await` where needed, and `return`."),
    gettext_noop("The script returned no value."),
    gettext_noop("End with `return …` to give a result."),
    gettext_noop("Use list_files for folders."),
    gettext_noop("Only regular files can be used."),
    gettext_noop("Links are not followed: use the real path."),
    gettext_noop("list_files shows what there is."),
    gettext_noop("Write it like `out/report.md`: no leading `/` or `~`, no `..`, no backslash, no percent-encoding."),
    gettext_noop("Choose another folder."),
    gettext_noop("Read it in slices: pass `offset` and `limit`."),
    gettext_noop("There is no such page."),
    gettext_noop("Start from the list of sessions."),
    gettext_noop("There is no such session of yours."),
    gettext_noop("There is no such run of yours."),
    gettext_noop("This run has no such part."),
    gettext_noop("Only its owner can act in this session."),
    gettext_noop("Only the session's owner can act on this run."),
    gettext_noop("Open a session of your own."),
    gettext_noop("An analyst reads everything and changes nothing."),
    gettext_noop("This form belongs to a page that is no longer valid."),
    gettext_noop("Open the page again, then send the form from there."),
    gettext_noop("`args` must be a JSON object."),
    gettext_noop("js_run is switched off."),
    gettext_noop("An admin can switch on forge.javascript.enabled."),
    gettext_noop("The run was stopped."),
    gettext_noop("The tool may still be finishing."),
    gettext_noop("The run ended before this call did."),
)
"""What engines, tools and pages say without figures: controls, reasons, hints, refusals."""

PATTERNS = (
    gettext_noop("%(heap)s MiB of heap, %(stack)s KiB of stack"),
    gettext_noop("%(time)s ms, waiting for tools included"),
    gettext_noop("%(chars)s characters of value and text to a model, 64 MiB stored per stream"),
    gettext_noop("`%(name)s` was never declared."),
    gettext_noop("The value before `.%(name)s` is %(base)s: print it with console.log, or read it with `?.%(again)s`."),
    gettext_noop("The value before `.%(name)s` is %(base)s: create the object first."),
    gettext_noop("What is looped over or taken apart is %(base)s: print it with console.log."),
    gettext_noop("`%(name)s` was declared with const or is fixed here: use let, or another name."),
    gettext_noop("`%(name)s` is no function: check the name, and whether a promise before it lacks its await."),
    gettext_noop("It is a tool: call it as %(call)s."),
    gettext_noop("Did you mean %(name)s?"),
    gettext_noop("There is no tool %(name)s."),
    gettext_noop("The script returned no value; %(number)s nested call succeeded."),
    gettext_noop("The script returned no value; %(number)s nested calls succeeded."),
    gettext_noop("The script did not end within %(time)s ms."),
    gettext_noop("The script ran out of memory: its heap may hold %(size)s MiB."),
    gettext_noop("The script ran out of memory: its heap may hold %(size)s bytes."),
    gettext_noop("The script ran out of stack: %(size)s bytes of nested calls are allowed."),
    gettext_noop("The value cannot be returned: %(why)s."),
    gettext_noop("`state` cannot be kept: %(why)s."),
    gettext_noop("`%(name)s` does not exist."),
    gettext_noop("`%(name)s` is a folder, not a file."),
    gettext_noop("`%(name)s` is a symbolic link."),
    gettext_noop("`%(name)s` is not a folder."),
    gettext_noop("`%(name)s` holds Forja's own settings; the file tools never touch it."),
    gettext_noop("`%(name)s` must be a plain relative path that stays inside its folder."),
    gettext_noop("`%(name)s` cannot be called from a script."),
    gettext_noop("`%(name)s` is denied: %(why)s."),
    gettext_noop("`%(name)s` needs an approval: %(why)s."),
    gettext_noop("this run may make %(most)s nested calls and has made them"),
    gettext_noop("%(mine)s runs of this session wait already; at most %(most)s may."),
    gettext_noop("%(total)s runs wait already; at most %(most)s may."),
    gettext_noop("A title has at most %(most)s characters."),
    gettext_noop("There is no workspace `%(name)s`."),
    gettext_noop("It is not JSON: %(why)s"),
    gettext_noop("A token's name is 1 to %(most)s printable characters."),
    gettext_noop("`days` must be 1 to %(most)s."),
    gettext_noop("There are %(most)s tokens already."),
    gettext_noop("Mend %(file)s; nothing runs until it is valid."),
)
"""What they say with figures and names in it; the first that fits is taken."""
