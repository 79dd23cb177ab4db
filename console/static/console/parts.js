// Parts that htmx loads: the old content stays and says that it is busy; a part that fails says
// so in its own place and leaves the rest of the page whole.
"use strict";
{
    const UNSAFE = /^(post|put|patch|delete)$/i;

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
