// Parts that htmx loads: the old content stays and says that it is busy; a part that fails says
// so in its own place and leaves the rest of the page whole.
"use strict";
{
    const UNSAFE = /^(post|put|patch|delete)$/i;
    const LOG_IN = "/admin/login/";

    function csrfToken() {
        return document.querySelector("[name=csrfmiddlewaretoken]")?.value;
    }

    document.addEventListener("htmx:configRequest", (event) => {
        const token = csrfToken();
        if (UNSAFE.test(event.detail.verb) && token) {
            event.detail.headers["X-CSRFToken"] = token;
        }
    });

    document.addEventListener("htmx:beforeRequest", (event) => {
        event.detail.target.setAttribute("aria-busy", "true");
    });

    document.addEventListener("htmx:afterRequest", (event) => {
        event.detail.target.removeAttribute("aria-busy");
    });

    // What had the keyboard may be in the part that is replaced: the new part takes it then, so that
    // the next Tab goes on from there and not from the top of the page.
    let replacesFocus = false;

    document.addEventListener("htmx:beforeSwap", (event) => {
        const { target, xhr } = event.detail;
        if (new URL(xhr.responseURL, window.location.href).pathname === LOG_IN) {
            // The session is over: the whole page goes to the log-in, which leads back to it.
            event.detail.shouldSwap = false;
            const here = encodeURIComponent(window.location.pathname + window.location.search);
            window.location.assign(`${LOG_IN}?next=${here}`);
        }
        replacesFocus = event.detail.shouldSwap && target.contains(document.activeElement);
    });

    document.addEventListener("htmx:afterSettle", (event) => {
        const isLost = document.activeElement === null || document.activeElement === document.body;
        if (replacesFocus && isLost) {
            // A target that was replaced itself is gone; then its first new element stands for it.
            const part = event.detail.target.isConnected ? event.detail.target : event.target;
            part.tabIndex = -1;
            part.focus({ preventScroll: true });
        }
        replacesFocus = false;
    });

    function showFailure(event) {
        const target = event.detail.target;
        for (const old of target.querySelectorAll(":scope > [data-part-failed]")) {
            old.remove();
        }
        const note = document.getElementById("part-failed").content.firstElementChild.cloneNode(true);
        note.dataset.partFailed = "";
        const reference = event.detail.xhr?.getResponseHeader("X-Request-ID");
        if (reference) {
            const words = document.createElement("span");
            words.className = "muted";
            words.textContent = ` Reference ${reference}`;
            note.querySelector(".note > div").append(words);
        }
        target.prepend(note);
    }

    document.addEventListener("htmx:responseError", showFailure);
    document.addEventListener("htmx:sendError", showFailure);
    document.addEventListener("htmx:timeout", showFailure);
}
