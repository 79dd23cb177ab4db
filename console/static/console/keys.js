// Single keys: / j k [ ] e ?   They never fire in fields, with a modifier, or once switched off.
"use strict";
{
    const dialog = document.getElementById("keys");
    const box = document.getElementById("keys-on");

    const isOn = () => dialog !== null && dialog.dataset.on === "yes";

    function isTyping(target) {
        return target.isContentEditable || target.closest("input, textarea, select, dialog") !== null;
    }

    function focusSearch() {
        const search = document.querySelector(".finder input") ?? document.getElementById("searchbar");
        search?.focus();
        search?.select();
        return search !== null;
    }

    function turns() {
        return Array.from(document.querySelectorAll("article.turn"));
    }

    function hereIn(all) {
        const focused = document.activeElement?.closest("article.turn");
        if (focused) {
            return all.indexOf(focused);
        }
        // Nothing has focus: start from the first message below the header.
        const first = all.findIndex((turn) => turn.getBoundingClientRect().top > 60);
        return first === -1 ? all.length : first - 0.5;
    }

    function moveBy(step) {
        const all = turns();
        if (all.length === 0) {
            return false;
        }
        const here = hereIn(all);
        const wanted = step > 0 ? Math.floor(here) + 1 : Math.ceil(here) - 1;
        const turn = all[Math.min(Math.max(wanted, 0), all.length - 1)];
        turn.tabIndex = -1;
        turn.focus({ preventScroll: true });
        turn.scrollIntoView({ block: "start" });
        return true;
    }

    function openVersion(rel) {
        const turn = document.activeElement?.closest("article.turn");
        const link = turn?.querySelector(`.siblings a[rel="${rel}"]`);
        link?.click();
        return Boolean(link);
    }

    function toggleCalls() {
        const calls = Array.from(document.querySelectorAll("#content details.block"));
        const open = calls.some((call) => !call.open);
        for (const call of calls) {
            call.open = open;
        }
        return calls.length > 0;
    }

    function showKeys() {
        if (dialog === null) {
            return false;
        }
        box.checked = isOn();
        dialog.showModal();
        return true;
    }

    const ACTIONS = {
        "/": focusSearch,
        "j": () => moveBy(1),
        "k": () => moveBy(-1),
        "[": () => openVersion("prev"),
        "]": () => openVersion("next"),
        "e": toggleCalls,
        "?": showKeys,
    };

    document.addEventListener("keydown", (event) => {
        const action = Object.hasOwn(ACTIONS, event.key) ? ACTIONS[event.key] : undefined;
        // AltGr types [ and ] on many keyboards, and arrives as Control with Alt.
        const isModified = event.metaKey || (event.ctrlKey !== event.altKey);
        if (action === undefined || isModified || event.repeat && event.key === "e") {
            return;
        }
        if (!isOn() || isTyping(event.target)) {
            return;
        }
        if (action()) {
            event.preventDefault();
        }
    });

    async function keep(wanted) {
        const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
        try {
            const answer = await fetch(dialog.dataset.url, {
                method: "POST",
                headers: { "X-CSRFToken": token },
                body: new URLSearchParams({ on: wanted }),
            });
            return answer.ok;
        } catch {
            return false;
        }
    }

    box?.addEventListener("change", async () => {
        const wanted = box.checked ? "yes" : "no";
        if (await keep(wanted)) {
            dialog.dataset.on = wanted;
        } else {
            // The box shows what is kept, not what was asked for.
            box.checked = isOn();
        }
    });

    document.addEventListener("click", (event) => {
        if (event.target.closest("[data-keys-open]") !== null) {
            showKeys();
        }
    });
}
